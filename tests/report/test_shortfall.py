"""The default target of Auto-mix beside what was measured: said where it is missed and no other was set."""

from __future__ import annotations

from typing import Any

import pytest

from core.report.shortfall import shortfall
from core.report.tiles import tiles


def document(*, sqnr_db: float | None = 21.4, agreement: float | None = 0.9, **changes: Any) -> dict[str, Any]:
    comparison = {
        "ratio": {"latency": {"value": 1.3, "ci95": [1.2, 1.4]}},
        "fidelity": {"sqnr_db": sqnr_db, "agreement": agreement},
        "accuracy": {"before": None, "after": None},
        "gate": None,
    }
    return {"comparison": {**comparison, **changes}, "data": {"labels": False}}


def labelled(before: float, after: float) -> dict[str, Any]:
    return {**document(accuracy={"before": before, "after": after, "metric": "top1"}), "data": {"labels": True}}


def told(found: dict[str, Any]) -> dict[str, str]:
    return {tile.label: tile.below for tile in tiles(found) if tile.below}


def test_without_labels_the_sqnr_is_held_against_its_default() -> None:
    assert told(document()) == {"Fidelity (SQNR)": "below the default target of 25 dB"}
    assert told(document(sqnr_db=25.0)) == {}
    assert told(document(sqnr_db=200.0)) == {}


def test_with_labels_the_accuracy_is_held_against_its_default_and_the_sqnr_against_none() -> None:
    assert told(labelled(0.98, 0.975)) == {}
    assert told(labelled(0.98, 0.96)) == {"Accuracy (top1)": "below the default target of 99 % of the original's"}


def test_where_no_output_is_a_float_the_agreement_is_held_against_its_default() -> None:
    assert told(document(sqnr_db=None)) == {"Agreement": "below the default target of 99 %"}
    assert told(document(sqnr_db=None, agreement=None)) == {}


@pytest.mark.parametrize("text", ["sqnr>=20", "accuracy>=90%, speedup>=1.2x"])
def test_a_target_of_ones_own_on_the_outputs_takes_the_place_of_the_default(text: str) -> None:
    target = {"text": text, "met": True}
    assert shortfall({**document(), "target": target}) is None
    assert shortfall(document(gate=target)) is None


def test_a_target_on_speed_alone_says_nothing_of_the_outputs() -> None:
    assert shortfall(document(gate={"text": "speedup>=1.2x", "met": True})) is not None


def test_labels_whose_accuracy_is_not_known_have_no_default_that_could_be_missed() -> None:
    assert shortfall({**document(), "data": {"labels": True}}) is None
    assert shortfall({"comparison": None, "data": {"labels": False}}) is None
