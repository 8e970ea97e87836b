"""What a first run may do to its process, and the one sentence that is told of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from core.errors import CrashedError, MixdeskError, ModelError, RunError, StoppedError
from core.intake.load import load_model
from core.measure.first_run import RunLimits, refusal_alone, run_first
from core.progress import Silent
from core.runtime.settings import SessionSettings
from tests import bad_runs
from tests.intake.texts import load, to_bytes
from tests.tasks.recording import Recording

SETTINGS = SessionSettings()
COUNTED = {"x": np.arange(4)}
ONE = {"x": np.ones(1, np.int64)}
TABLE = {"x": np.arange(4), "t": np.zeros(5, np.float32)}
FLOATS = {"x": np.ones(4, np.float32)}


def run(text: str, feeds: Sequence[dict[str, Any]], **limits: Any) -> int:
    return run_first(load_model(bad_runs.bad_run(text), name="m"), feeds, SETTINGS, RunLimits(**limits), Silent())


def test_a_model_that_runs_tells_the_memory_of_its_process() -> None:
    model = load("g (float[4] x) => (float[4] y) { y = Relu (x) }")
    assert 10e6 < run_first(model, [FLOATS, FLOATS], SETTINGS, RunLimits(), Silent()) < 1e9


@pytest.mark.parametrize(
    ("text", "feed", "kind", "layer", "said"),
    [
        (bad_runs.CRASH, COUNTED, CrashedError, "divide", "The runtime crashed (SIGFPE) in layer 'divide' (Div)."),
        (
            bad_runs.CRASH_IN_LOOP,
            ONE,
            CrashedError,
            "loop/body/divide",
            "The runtime crashed (SIGFPE) in layer 'loop/body/divide' (Div) in round 7.",
        ),
        (
            bad_runs.FAILING,
            TABLE,
            RunError,
            "look_up",
            "onnxruntime failed to run the model: layer 'look_up' (Gather) failed: indices element out of data bounds",
        ),
        (
            bad_runs.FAILING_IN_LOOP,
            FLOATS,
            RunError,
            "loop/body/bad",
            "onnxruntime failed to run the model: layer 'loop/body/bad' (Gather) failed: indices element out of data",
        ),
        (bad_runs.REFUSED, FLOATS, ModelError, "arc", "onnxruntime cannot open the model: "),
    ],
)
def test_it_is_told_in_one_sentence_with_the_layer_and_a_next_step(
    text: str, feed: dict[str, Any], kind: type[MixdeskError], layer: str, said: str
) -> None:
    with pytest.raises(kind) as told:
        run(text, [feed])
    assert told.value.layer == layer
    assert told.value.message.startswith(said)
    assert told.value.hint
    assert "mxL" not in told.value.message


def test_a_later_sample_may_be_the_one_that_crashes() -> None:
    text = """g (int64[1] x) => (int64[1] y) <int64 low = {-9223372036854775808}> {
        [nothing] z = Sub (x, x) [smallest] s = Add (z, low) [divide] y = Div (s, x)
    }"""
    with pytest.raises(CrashedError) as told:
        run(text, [ONE, ONE, {"x": np.array([-1])}])
    assert told.value.layer == "divide"


def test_a_run_without_end_is_ended_and_its_loop_named() -> None:
    with pytest.raises(RunError) as told:
        run(bad_runs.ENDLESS, [ONE], seconds=1.5)
    assert told.value.layer == "loop"
    assert told.value.message == (
        "One run did not end within 1.5 s: layer 'loop' (Loop, told to go on without a limit of rounds) still ran."
    )
    assert "--time-budget" in str(told.value.hint)


@pytest.mark.parametrize(
    ("text", "feed", "where"),
    [
        (bad_runs.HUNGRY, ONE, "'fill' (95,367 MiB at once)"),
        (bad_runs.GROWING, {"x": np.ones(1_000_000, np.float32)}, "'loop/body/double' (244 MiB at once)"),
    ],
)
def test_a_run_over_its_memory_names_the_layer_and_the_limit(text: str, feed: dict[str, Any], where: str) -> None:
    with pytest.raises(RunError) as told:
        run(text, [feed], memory_bytes=500 * 2**20)
    assert told.value.message == (
        f"The model takes more memory for one run than the 500 MiB that it may use here, in layer {where}."
    )
    assert told.value.layer == where.split("'")[1]
    assert "MIXDESK_JOB_MEMORY_MB" in str(told.value.hint)


def test_stop_is_heard_while_it_runs() -> None:
    class Impatient(Recording):
        def step(self, done: int, total: int, what: str = "") -> None:
            if what.startswith("first run"):
                raise StoppedError("Stopped on request.")

    model = load_model(bad_runs.bad_run(bad_runs.ENDLESS), name="m")
    with pytest.raises(StoppedError):
        run_first(model, [ONE], SETTINGS, RunLimits(), Impatient())


def test_why_a_feed_does_not_run_is_found_out_without_harm() -> None:
    crash = refusal_alone(load_model(bad_runs.bad_run(bad_runs.CRASH), name="m"), SETTINGS, RunLimits())
    assert crash(COUNTED) == "The process that ran it did not end well."
    fine = refusal_alone(load_model(to_bytes("g (float[4] x) => (float[4] y) { y = Relu (x) }")), SETTINGS, RunLimits())
    assert fine(FLOATS) is None
    assert "Unexpected input data type" in str(fine(COUNTED))
    refused = refusal_alone(load_model(bad_runs.bad_run(bad_runs.REFUSED), name="m"), SETTINGS, RunLimits())
    with pytest.raises(RunError):
        refused(FLOATS)
