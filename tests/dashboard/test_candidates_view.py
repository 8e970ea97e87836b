"""Candidates side by side: measured against the original, derived or measured against another, and what is apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from core.store.rows import CandidateRow
from dashboard.candidate_tables import candidate_table, layer_precision_table
from dashboard.candidates_view import Entry, compare_all, differences, facts_of, layers_that_differ
from dashboard.figures.theme import LIGHT
from dashboard.layer_views import layer_views
from tests.dashboard.documents import build_document, comparison_document, inspect_document
from tests.dashboard.faked import SHA

INSPECTION = inspect_document(30)
DATA = {"sha256": "cd" * 32, "name": "d", "synthetic": False}


def row(name: str, speedup: float = 2.0, **changes: Any) -> CandidateRow:
    document = {**build_document(INSPECTION, speedup=speedup), "data": DATA, "name": name, **changes}
    return CandidateRow(
        id=f"id of {name}", model_sha256=SHA, file_sha256="ef" * 32, recipe={}, plan={}, report=document, name=name
    )


def under(candidate: CandidateRow, **conditions: Any) -> CandidateRow:
    comparison = dict(candidate.report["comparison"])
    comparison["conditions"] = {**comparison["conditions"], **conditions}
    return replace(candidate, report={**candidate.report, "comparison": comparison})


DESK = facts_of(row("any").report)


def compared(
    *rows: CandidateRow, baseline: CandidateRow | None = None, pairs: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, Entry]:
    return {entry.name: entry for entry in compare_all(rows, baseline, DESK, pairs or {})}


def test_against_the_original_each_has_its_interval_and_direction() -> None:
    found = compared(row("fast", 2.0), row("slow", 0.5))
    assert next(iter(found)) == "Original"
    assert found["Original"].is_baseline
    assert found["fast"].speed.word == "better"
    assert found["fast"].speed.told.startswith("[")
    assert found["fast"].speed.told.endswith("▲ better")
    assert found["slow"].speed.told.endswith("▼ worse")
    assert found["fast"].size.word == "better"


def test_against_another_candidate_a_quotient_is_said_to_be_derived() -> None:
    base = row("base", 2.0)
    found = compared(base, row("fast", 3.0), baseline=base)
    assert list(found)[:2] == ["base", "Original"]
    assert found["fast"].speed.value == pytest.approx(1.5, rel=0.01)
    assert found["fast"].speed.told == "≈ derived"
    assert found["Original"].speed.value == pytest.approx(0.5, rel=0.01)
    assert found["Original"].speed.word == "worse"


def test_a_measurement_in_pairs_takes_the_place_of_the_quotient() -> None:
    base, fast = row("base", 2.0), row("fast", 3.0)
    found = compared(base, fast, baseline=base, pairs={fast.id: comparison_document(speedup=1.2)})
    assert found["fast"].speed.value == pytest.approx(1.2, rel=0.01)
    assert found["fast"].speed.word == "better"


def test_other_conditions_are_named_and_stand_last_without_a_quotient() -> None:
    base, other = row("base", 2.0), under(row("other", 3.0), threads=2, batch=4)
    found = compared(other, base, row("like it"), baseline=base)
    assert list(found)[-1] == "other"
    assert found["other"].differs == ("2 threads", "batch 4")
    assert found["other"].speed.value is None
    assert found["other"].speed.word == "not measured"


def test_other_data_machines_and_versions_are_told_apart() -> None:
    facts = {**DESK, "data": None}
    assert differences(DESK, facts) == ("synthetic inputs",)
    assert differences(DESK, {**DESK, "data": "other", "data_name": "eval2"}) == ("other data (eval2)",)
    assert differences(DESK, {**DESK, "machine": "m2", "cpu": "A CPU"}) == ("another machine (A CPU)",)
    assert differences(DESK, {**DESK, "onnxruntime": "1.31"}) == ("onnxruntime 1.31",)
    assert differences(DESK, dict(DESK)) == ()


def test_what_was_not_measured_says_so() -> None:
    found = compared(row("fast"), row("unmeasured", comparison=None, accuracy=None))
    assert found["unmeasured"].speed.word == "not measured"
    assert found["unmeasured"].latency == "not measured"
    assert found["unmeasured"].differs == ()


def test_an_unchanged_model_is_called_so() -> None:
    assert compared(row("stays", 1.0, unchanged=True))["stays"].speed.word == "unchanged"


def test_fidelity_is_told_against_the_original_and_its_change_against_a_pinned_one() -> None:
    def with_sqnr(name: str, value: float) -> CandidateRow:
        candidate = row(name)
        return replace(candidate, report={**candidate.report, "fidelity": {"sqnr_db": value, "agreement": 0.99}})

    base, better = with_sqnr("base", 30.0), with_sqnr("better", 36.0)
    assert compared(base, better)["better"].sqnr.told == ""
    assert compared(base, better, baseline=base)["better"].sqnr.told == "+6.0 dB ▲ better"


def test_columns_that_say_the_same_everywhere_are_left_out_and_told() -> None:
    entries = compare_all((row("fast", 2.0), row("faster", 3.0)), None, DESK, {})
    some, every = (candidate_table(entries, only_differences=only) for only in (True, False))
    assert set(some.table.frame.columns) < set(every.table.frame.columns)
    assert not set(some.same) & set(some.table.frame.columns)
    assert "Other conditions" not in every.table.frame.columns
    assert every.same == {}
    assert some.table.ids == every.table.ids == ("", "id of fast", "id of faster")


def test_a_column_in_which_one_is_silent_is_not_the_same_in_all() -> None:
    target = {"text": "sqnr>=30", "met": True}
    entries = compare_all((row("one", target=target), row("two", target=None)), None, DESK, {})
    assert "Target" in candidate_table(entries, only_differences=True).table.frame.columns
    both = compare_all((row("one", target=target), row("two", target=target)), None, DESK, {})
    assert candidate_table(both, only_differences=True).same["Target"] == "sqnr>=30: met"


def test_a_long_name_is_cut_and_kept_whole_beside() -> None:
    name = "a name that somebody made very long to see what becomes of it"
    entries = compare_all((row(name), row("b", 3.0)), None, DESK, {})
    frame = candidate_table(entries, only_differences=True).table.frame
    assert name not in list(frame["Candidate"])
    assert name in list(frame["Full name"])


def test_only_layers_that_do_not_run_alike_are_rows() -> None:
    first, second = row("one"), row("two")
    layers = [dict(layer) for layer in second.report["layers"]]
    changed = layers[0]["id"]
    layers[0]["executed"] = "fp32" if layers[0]["executed"] != "fp32" else "int8"
    entries = [
        e
        for e in compare_all((first, replace(second, report={**second.report, "layers": layers})), None, DESK, {})
        if e.id
    ]
    assert layers_that_differ(entries) == (changed,)
    views = layer_views(INSPECTION)
    assert layer_precision_table(entries, views, LIGHT, only_differences=True).ids == (changed,)
    assert len(layer_precision_table(entries, views, LIGHT, only_differences=False).ids) == len(views)


def test_candidates_of_the_same_name_have_columns_of_their_own() -> None:
    entries = [e for e in compare_all((row("same"), replace(row("same"), id="another")), None, DESK, {}) if e.id]
    table = layer_precision_table(entries, layer_views(INSPECTION), LIGHT, only_differences=False)
    assert list(table.frame.columns) == ["Layer", "Op", "same", "2 same"]
