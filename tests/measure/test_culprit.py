"""The layer to blame is found after crashes, in bodies of containers too, and in bounded time."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from core.intake.load import load_model
from core.measure.alone import How
from core.measure.culprit import Case, Culprit, find_culprit
from core.runtime.settings import SessionSettings
from core.runtime.tags import tag_model
from core.runtime.told import Place
from tests import bad_runs
from tests.intake.texts import to_bytes

COUNTED = {"x": np.arange(4)}
ONE = {"x": np.ones(1, np.int64)}


def search(text: str, feed: dict[str, Any], how: How, **more: Any) -> Culprit | None:
    model = load_model(bad_runs.bad_run(text), name="m")
    return find_culprit(Case(tag_model(model.ir), feed, SessionSettings(), how), **more)


def test_the_layer_that_kills_the_process_is_named() -> None:
    assert search(bad_runs.CRASH, COUNTED, "died") == Culprit(Place("divide", "Div"))


def test_in_a_loop_the_layer_of_the_body_and_the_round_are_named() -> None:
    found = search(bad_runs.CRASH_IN_LOOP, ONE, "died")
    assert found == Culprit(Place("loop/body/divide", "Div"), round=6)
    assert str(found) == "'loop/body/divide' (Div) in round 7"


@pytest.mark.parametrize(
    ("text", "feed", "layer"),
    [
        (bad_runs.CRASH_IN_BRANCH, ONE, "choose/then/divide"),
        (bad_runs.CRASH_IN_SCAN, {"x": np.arange(9)}, "scan/body/divide"),
    ],
)
def test_in_branches_and_scans_too(text: str, feed: dict[str, Any], layer: str) -> None:
    found = search(text, feed, "died")
    assert found is not None
    assert found.place == Place(layer, "Div")


def test_a_large_graph_is_searched_in_two_passes() -> None:
    chain = " ".join(f"[n{i}] v{i} = Add (v{i - 1}, one)" for i in range(1, 601))
    text = bad_runs.CRASH.replace(
        "[zero] z = Sub (x, x)", f"[n0] v0 = Add (x, one) {chain} [zero] z = Sub (v600, v600)"
    )
    found = search(text, COUNTED, "died")
    assert found is not None
    assert found.place.layer == "divide"


def test_a_loop_without_end_is_named_with_the_rounds_it_was_told_to_do() -> None:
    found = search(bad_runs.ENDLESS, ONE, "time", most_s=6.0)
    assert str(found) == "'loop' (Loop, told to go on without a limit of rounds)"
    found = search(bad_runs.LONG_LOOP, ONE, "time", most_s=6.0)
    assert str(found) == "'loop' (Loop, told to do 900,000,000,000 rounds)"


def test_what_takes_too_much_memory_is_named() -> None:
    found = search(bad_runs.GROWING, {"x": np.ones(1_000_000, np.float32)}, "memory", memory_bytes=500_000_000)
    assert found is not None
    assert found.place == Place("loop/body/double", "Concat")


def test_a_model_that_runs_well_has_no_culprit() -> None:
    model = load_model(to_bytes("g (float[4] x) => (float[4] y) { [a] b = Relu (x) [c] y = Abs (b) }"), name="m")
    feed = {"x": np.ones(4, np.float32)}
    for how in ("died", "time", "memory"):
        case = Case(tag_model(model.ir), feed, SessionSettings(), how)
        assert find_culprit(case) is None


def test_a_layer_that_fails_is_not_blamed_for_a_crash() -> None:
    feed = {"x": np.arange(4), "t": np.zeros(5, np.float32)}
    assert search(bad_runs.FAILING, feed, "died") is None
    assert search(bad_runs.FAILING, feed, "memory") is None
    found = search(bad_runs.FAILING, feed, "failed")
    assert found is not None
    assert found.place == Place("look_up", "Gather")
    assert "out of data bounds" in str(found.reason)


def test_the_search_ends_in_time_and_then_blames_nobody() -> None:
    began = time.monotonic()
    assert search(bad_runs.ENDLESS, ONE, "died", most_s=2.0) is None
    assert time.monotonic() - began < 10.0


def test_a_search_can_be_stopped() -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search(bad_runs.ENDLESS, ONE, "time", on_wait=stop)
