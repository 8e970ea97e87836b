"""One precision for everything is proved like a searched mix: the original wins where it is not better."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import RecipeError, UnavailableError
from core.progress import Silent
from core.store.workspace import Workspace
from core.tasks.optimize import optimize

pytestmark = [pytest.mark.usefixtures("unprobed"), pytest.mark.xdist_group("timing")]


def asked(store: Workspace, network: dict[str, Any], **more: Any) -> dict[str, Any]:
    return optimize(store, {**network, "target": "sqnr>=5", "time_budget_s": 1, **more}, Silent())


def test_int8_asks_every_layer_and_keeps_the_reason_where_the_original_stays(
    store: Workspace, network: dict[str, Any]
) -> None:
    document = asked(store, network, precision="int8")
    assert document["evaluations"] == 0
    assert document["front"] == []
    if document["unchanged"]:
        assert "that was asked for" in document["why"] or "too busy" in document["why"]
        assert document["tried"]["ratio"]["latency"]["value"] > 0
    else:
        assert {row["requested"] for row in document["layers"]} == {"int8"}
        assert document["speedup"]["ci95"][0] > 1


def test_a_target_that_is_missed_leaves_the_original(store: Workspace, network: dict[str, Any]) -> None:
    document = asked(store, network, precision="int8", target="sqnr>=199")
    assert document["unchanged"] is True
    assert "evaluation" not in document["why"]


def test_fp32_is_the_original_and_says_so(store: Workspace, network: dict[str, Any]) -> None:
    document = asked(store, network, precision="fp32")
    assert document["unchanged"] is True
    assert "fp32" in document["why"]


def test_pins_win_over_the_one_precision(store: Workspace, network: dict[str, Any]) -> None:
    document = asked(store, network, precision="int8", pins={"conv": "fp32", "head": "fp32"})
    assert document["unchanged"] is True
    assert "None of the 2 groups" in document["why"]


@pytest.mark.parametrize(("precision", "error"), [("int9", RecipeError), ("fp16", UnavailableError)])
def test_what_is_no_precision_here_is_refused(
    store: Workspace, network: dict[str, Any], precision: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        asked(store, network, precision=precision)
