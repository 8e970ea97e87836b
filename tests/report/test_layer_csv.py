"""Tables as CSV: full names, plain numbers, nothing rounded, nothing that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from core.errors import RequestError
from core.report.layer_csv import document_csv, rows_csv


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


OUTCOME = {"id": "/a,b", "group": "g", "op": "Conv", "requested": "int8", "produced": "int8", "executed": "fp32"}


def test_built_layers_have_their_times_before_and_after() -> None:
    document = {
        "layers": [{**OUTCOME, "why": 'says "no"'}],
        "original_profile": {"layers": [{"id": "/a,b", "ms": 1.23456789}]},
        "profile": {"layers": [{"id": "/a,b", "ms": None}]},
    }
    (row,) = read(document_csv(document))
    assert row["layer"] == "/a,b"
    assert row["why"] == 'says "no"'
    assert (row["before_ms"], row["after_ms"]) == ("1.23456789", "")
    assert (row["requested"], row["executed"]) == ("int8", "fp32")


def test_a_profile_has_all_its_columns() -> None:
    layer = {"id": "a", "group": "a", "op": "Conv", "ms": 0.5, "share": 1.0, "macs": 7, "bytes": 8, "runs": 1}
    known = {"limited_by": "compute", "executes_as": "Conv", "precision": "int8", "intensity": 1.75, "gflops": 0.014}
    (row,) = read(document_csv({"layers": [{**layer, **known, "attained": None}]}))
    assert (row["time_ms"], row["macs"], row["limited_by"]) == ("0.5", "7", "compute")
    assert (row["precision"], row["flop_per_byte"], row["gflop_per_s"]) == ("int8", "1.75", "0.014")
    assert (row["attained_share"], row["runs"]) == ("", "1")


def test_a_profile_from_before_these_columns_has_empty_cells() -> None:
    (row,) = read(document_csv({"layers": [{"id": "a", "ms": 0.5}]}))
    assert (row["time_ms"], row["precision"], row["gflop_per_s"]) == ("0.5", "", "")


def test_a_comparison_is_its_ratios_and_answers() -> None:
    document: dict[str, Any] = {
        "ratio": {
            "latency": {"value": 2.0, "ci95": [1.9, 2.1]},
            "p95": 2.1,
            "throughput": 2.0,
            "size": 4,
            "memory": None,
        },
        "latency": {"before_ms": 2.0, "after_ms": 1.0, "before_p95_ms": 3.0, "after_p95_ms": 1.5},
        "accuracy": {"metric": "top-1", "before": 0.9, "after": 0.8},
        "fidelity": {"sqnr_db": 30.0},
    }
    rows = {row["measure"]: row for row in read(document_csv(document))}
    assert (rows["latency"]["before"], rows["latency"]["ci95_high"]) == ("2.0", "2.1")
    assert rows["memory"]["ratio"] == ""
    assert rows["accuracy top-1"]["after"] == "0.8"
    assert rows["fidelity sqnr_db"]["after"] == "30.0"


@pytest.mark.parametrize("name", ["=HYPERLINK(1)", "+1", "-x", "@a", "\tx"])
def test_a_name_that_a_spreadsheet_would_run_is_text(name: str) -> None:
    assert rows_csv(["layer"], [[name]]).splitlines()[1].strip('"').startswith("'")


def test_numbers_below_zero_stay_numbers() -> None:
    assert rows_csv(["x"], [[-1.5]]) == "x\n-1.5\n"


def test_a_document_without_a_table_is_told() -> None:
    with pytest.raises(RequestError, match="no table"):
        document_csv({"samples": []})
