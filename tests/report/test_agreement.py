"""Figures agree within their tolerances, to the digit; what decides and what is only told are kept apart."""

from __future__ import annotations

from typing import Any

import pytest

from core.report.agreement import Figure, agrees, figures, verdict_sentence


def compared(**changes: Any) -> dict[str, Any]:
    document: dict[str, Any] = {
        "latency": {"ratio": 2.0, "ci95": [1.9, 2.1]},
        "fidelity": {"sqnr_db": 40.0, "agreement": 0.99},
        "accuracy": {"metric": "top-1", "before": 0.95, "after": 0.94},
        "size": {"before_bytes": 1000, "after_bytes": 300},
        "memory": {"before_bytes": 1000, "after_bytes": 800},
    }
    return {**document, **changes}


def checked(now: dict[str, Any], then: dict[str, Any] | None = None, **options: Any) -> dict[str, Figure]:
    stored = {"comparison": then or compared(), "layers": [{"id": "a"}, {"id": "b"}]}
    asked: dict[str, Any] = {"target_met": None, "executed": [], "checked": 2, "same_original": True, **options}
    return {figure.name: figure for figure in figures(stored, now, **asked)}


def test_the_same_figures_agree() -> None:
    found = checked(compared())
    assert all(figure.agrees for figure in found.values())
    assert agrees(list(found.values()))
    assert set(found) == {
        *("speedup", "fidelity.sqnr_db", "fidelity.agreement", "accuracy.before", "accuracy.after"),
        *("size.before_bytes", "size.after_bytes", "memory.before_bytes", "memory.after_bytes", "layers.executed"),
    }


@pytest.mark.parametrize(
    ("ci95", "overlap"), [([2.1, 2.5], True), ([2.11, 2.5], False), ([1.0, 1.9], True), ([1, 1.8], False)]
)
def test_speedups_agree_where_their_intervals_overlap(ci95: list[float], overlap: bool) -> None:
    found = checked(compared(latency={"ratio": 2.0, "ci95": ci95}))
    assert found["speedup"].agrees is overlap
    assert agrees(list(found.values())) is overlap


@pytest.mark.parametrize(
    ("now", "target_met", "kept"),
    [
        (39.0, None, True),
        (41.0, None, True),
        (38.9, None, False),
        (38.9, False, False),
        (38.9, True, True),
        (None, None, False),
        (None, True, True),
    ],
)
def test_fidelity_agrees_within_1_db_or_with_the_target_still_met(
    now: float | None, target_met: bool | None, kept: bool
) -> None:
    found = checked(compared(fidelity={"sqnr_db": now, "agreement": 0.99}), target_met=target_met)
    assert found["fidelity.sqnr_db"].agrees is kept


@pytest.mark.parametrize(("after", "near"), [(0.935, True), (0.9349, False), (0.945, True), (0.9451, False)])
def test_accuracy_agrees_within_half_a_point(after: float, near: bool) -> None:
    now = compared(accuracy={"metric": "top-1", "before": 0.95, "after": after})
    assert checked(now)["accuracy.after"].agrees is near


def test_accuracy_without_labels_now_cannot_be_told() -> None:
    figure = checked(compared(accuracy={"before": None, "after": None}))["accuracy.after"]
    assert (figure.agrees, figure.why) == (None, "it cannot be measured with this data")


def test_no_labels_then_and_now_is_no_figure() -> None:
    bare = compared(accuracy={"before": None, "after": None})
    assert "accuracy.after" not in checked(bare, bare)


def test_the_share_of_equal_answers_decides_only_without_sqnr() -> None:
    now = compared(fidelity={"sqnr_db": 40.0, "agreement": 0.5})
    assert agrees(list(checked(now).values()))
    then = compared(fidelity={"sqnr_db": None, "agreement": 0.99})
    now = compared(fidelity={"sqnr_db": None, "agreement": 0.5})
    assert not agrees(list(checked(now, then).values()))


def test_sizes_are_equal_to_the_byte_but_for_an_original_that_was_put_into_one_file() -> None:
    now = compared(size={"before_bytes": 1001, "after_bytes": 300})
    assert checked(now)["size.before_bytes"].agrees is False
    assert "size.before_bytes" not in checked(now, same_original=False)


def test_memory_and_layers_are_told_and_do_not_decide() -> None:
    now = compared(memory={"before_bytes": 2000, "after_bytes": 800})
    other = [{"id": "a", "stored": "int8", "measured": "fp32"}]
    found = checked(now, executed=other)
    assert found["memory.before_bytes"].agrees is False
    assert found["layers.executed"].agrees is False
    assert found["layers.executed"].why == "a (int8 then, fp32 now)"
    assert agrees(list(found.values()))


def test_a_build_that_was_not_measured_has_nothing_to_disagree_with() -> None:
    stored: dict[str, Any] = {"comparison": None, "bytes": 300, "fidelity": {"sqnr_db": 40.0}, "layers": []}
    found = figures(stored, compared(), target_met=None, executed=[], checked=0, same_original=True)
    by_name = {figure.name: figure for figure in found}
    assert by_name["speedup"].agrees is None
    assert by_name["speedup"].why == "it was not measured then"
    assert by_name["fidelity.sqnr_db"].agrees is True
    assert by_name["size.after_bytes"].agrees is True
    assert agrees(found)


def test_the_answer_names_what_decides() -> None:
    found = list(checked(compared(latency={"ratio": 1.0, "ci95": [0.9, 1.1]})).values())
    said = verdict_sentence(hashes_ok=True, found=found, agreed=False, target_met=None)
    assert said == (
        "Measured again, it does not agree with its report: speed-up 2.00x [1.90–2.10x] then, 1.00x [0.900–1.10x] now."
    )
    assert "target is not met" in verdict_sentence(hashes_ok=True, found=[], agreed=True, target_met=False)
    assert "nothing in it was measured" in verdict_sentence(hashes_ok=False, found=[], agreed=False, target_met=None)
