"""Why a candidate is not faster: each reason carries its figures, and none is made up."""

from __future__ import annotations

from dashboard.diagnosis import asked_and_got, reasons
from dashboard.layer_views import layer_views
from tests.dashboard.documents import build_document, inspect_document, profile_document


def told(speedup: float, **options: object) -> tuple[str, ...]:
    inspection = inspect_document(60)
    document = {**build_document(inspection, speedup=speedup), **options}
    before = layer_views(inspection, profile_document(inspection))
    return reasons(document, before, layer_views(inspection, document["profile"]))


def test_layers_that_became_slower_are_named_with_both_times() -> None:
    (slower,) = [reason for reason in told(0.8) if "became slower" in reason]
    assert "0.342 ms → 0.428 ms" in slower


def test_costly_conversions_are_told_with_their_time() -> None:
    assert any(reason.startswith("4 conversions between precisions take 0.300 ms") for reason in told(0.8))
    assert not any("conversions between precisions take" in reason for reason in told(2.84))


def test_layers_that_do_not_run_as_asked_are_counted_with_the_commonest_reason() -> None:
    assert any(reason.startswith("2 of 26 layers do not run as asked") for reason in told(0.8))


def test_the_solvers_own_reason_comes_first() -> None:
    assert told(1.0, unchanged=True, why="Nothing was faster.")[0] == "Nothing was faster."


def test_without_a_profile_nothing_is_said_of_single_layers() -> None:
    inspection = inspect_document(60)
    document = build_document(inspection, speedup=0.8, missing=True)
    before = layer_views(inspection, profile_document(inspection))
    assert not any("became slower" in reason for reason in reasons(document, before, None))


def test_asked_and_got_adds_up() -> None:
    rows = [
        {"requested": "int8", "executed": "int8"},
        {"requested": "int8", "executed": "folded"},
        {"requested": "int8", "executed": "fp32"},
        {"requested": "fp32", "executed": "fp32"},
    ]
    sentence = "Asked for int8 in 3 layers: 1 runs so, 1 is folded into other kernels, 1 does not."
    assert asked_and_got(rows) == sentence
    assert asked_and_got(rows[:1] * 2) == "Asked for int8 in 2 layers: 2 run so, none is missing."
    assert asked_and_got(rows[3:]) == "Nothing was asked to change: every layer stays in fp32."
