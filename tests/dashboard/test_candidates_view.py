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
    same = with_sqnr("same", 200.0)
    assert compared(base, same, baseline=base)["same"].sqnr.told == "identical ▲ better"
    assert compared(same, base, baseline=same)["base"].sqnr.told == "not identical ▼ worse"


@pytest.mark.parametrize(("after", "word"), [(97_000_000, "no difference seen"), (90_000_000, "better")])
def test_the_peak_of_a_process_varies_by_some_percent(after: int, word: str) -> None:
    made = row("fp32")
    memory = {"before_bytes": 100_000_000, "after_bytes": after}
    report = {**made.report, "comparison": {**made.report["comparison"], "memory": memory}}
    assert compared(replace(made, report=report))["fp32"].memory.word == word


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


def test_held_against_a_pinned_candidate_the_original_has_every_change_that_is_known() -> None:
    base = row("base", 2.0)
    found = base.report["comparison"]
    original = compared(base, row("fast", 3.0), baseline=base)["Original"]
    size, memory = found["size"], found["memory"]
    assert original.size.value == size["before_bytes"]
    assert original.size.told == f"{size['after_bytes'] / size['before_bytes']:.3f}x ▼ worse"
    assert original.memory.told == f"{memory['after_bytes'] / memory['before_bytes']:.3f}x ▼ worse"
    assert original.accuracy.value == found["accuracy"]["before"]
    assert original.accuracy.told == "+0.280 points [-0.300, 0.800] = no difference seen"
    assert (original.sqnr.told, original.agreement.told) == ("", "")


def test_a_size_that_is_not_known_has_no_change() -> None:
    measured = row("base", 2.0)
    comparison = {**measured.report["comparison"], "memory": {"before_bytes": 1, "after_bytes": None}, "size": None}
    base = replace(measured, report={**measured.report, "comparison": comparison})
    original = compared(base, row("fast", 3.0), baseline=base)["Original"]
    assert (original.memory.value, original.memory.told) == (1, "")
    assert (original.size.value, original.size.told) == (None, "")


def pinned_pair() -> tuple[Entry, ...]:
    """A pinned candidate, the original, and one more candidate: two rows are held against the first."""
    base, other = row("base", 2.0), row("other", 3.0)
    nearer = {**other.report["fidelity"], "sqnr_db": 46.1}
    return compare_all((base, replace(other, report={**other.report, "fidelity": nearer})), base, DESK, {})


def test_what_one_row_alone_says_against_a_pinned_candidate_is_not_the_same_in_all() -> None:
    shown = candidate_table(pinned_pair(), only_differences=True)
    changes = [name for name in shown.table.frame.columns if name.endswith(" change") or "ess " in name]
    assert {"SQNR change", "Agreement change", "Accuracy change"} <= set(changes)
    assert not {"SQNR change", "Agreement change", "Agreement (%)"} & set(shown.same)
    assert list(shown.table.frame["Smaller file"]) == ["", "0.277x ▼ worse", "1.00x = no difference seen"]


def test_every_column_that_is_the_same_in_all_holds_for_every_row_against_the_baseline() -> None:
    entries = pinned_pair()
    every = candidate_table(entries, only_differences=False).table.frame
    same = candidate_table(entries, only_differences=True).same
    for name in same:
        told = [value for value, entry in zip(every[name], entries, strict=True) if not entry.is_baseline]
        assert len({str(value) for value in told}) == 1, name
    alike = tuple(replace(entry, memory=entry.size, target="sqnr>=30: met") for entry in entries)
    assert candidate_table(alike, only_differences=True).same["Target"] == "sqnr>=30: met"


def test_a_layer_of_which_one_candidate_tells_nothing_is_no_layer_that_runs_alike() -> None:
    known, silent = (
        entry for entry in compare_all((row("known"), row("silent", layers=[])), None, DESK, {}) if entry.id
    )
    assert len(layers_that_differ([known, silent])) == len(known.executed) > 0
    assert layers_that_differ([known, known]) == ()
