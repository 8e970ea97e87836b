"""Failures of tagged and of plain sessions are told by the user's own layer names."""

from __future__ import annotations

import re

import numpy as np
import pytest

from core.errors import RunError
from core.intake.load import load_model
from core.intake.model import Model
from core.runtime.attribute import open_tagged
from core.runtime.session import open_session, run_session
from core.runtime.settings import SessionSettings
from core.runtime.tags import tag_model
from core.runtime.told import retell
from tests import bad_runs

SETTINGS = SessionSettings()
FLOATS = {"x": np.ones(4, np.float32)}


def load(text: str) -> Model:
    return load_model(bad_runs.bad_run(text), name="m")


@pytest.mark.parametrize("tagged", [True, False])
@pytest.mark.parametrize(
    ("text", "feed", "layer"),
    [
        (bad_runs.FAILING, {"x": np.arange(4), "t": np.zeros(5, np.float32)}, "look_up"),
        (bad_runs.FAILING_IN_LOOP, FLOATS, "loop/body/bad"),
    ],
)
def test_a_failing_kernel_leads_to_its_layer(text: str, feed: dict[str, np.ndarray], layer: str, tagged: bool) -> None:
    model = load(text)
    session = open_tagged(model.ir, SETTINGS).session if tagged else open_session(model.serialize(), SETTINGS)
    with pytest.raises(RunError) as failed:
        run_session(session, feed)
    told = retell(failed.value, tag_model(model.ir))
    assert told.layer == layer
    assert told.message.startswith(f"onnxruntime failed to run the model: layer '{layer}' (Gather) failed: indices")
    assert told.hint == "Look at the values and shapes that reach this layer."


def test_no_tag_reaches_the_user_where_a_tagged_model_is_refused() -> None:
    with pytest.raises(RunError) as refused:
        open_tagged(load(bad_runs.REFUSED).ir, SETTINGS)
    assert not re.search(r"mx[LF]\d", refused.value.message)
    assert "(down)" in refused.value.message
    assert "(arc)" in refused.value.message
    assert "element types" in str(refused.value.hint)


def test_a_failure_that_names_no_layer_stays_as_it_is() -> None:
    error = RunError("onnxruntime cannot open the model: the disk is full.", hint="Make room.")
    told = retell(error, tag_model(load(bad_runs.FAILING).ir))
    assert (told.message, told.hint, told.layer) == (error.message, error.hint, None)
