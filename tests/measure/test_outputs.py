from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from core.errors import RunError
from core.intake.feeds import Dataset
from core.measure.outputs import run_outputs, to_array
from core.runtime.settings import SessionSettings
from tests.measure.data import classifier, samples
from tests.runtime.models import parse

SETTINGS = SessionSettings()


def test_there_is_one_mapping_per_sample_in_the_order_asked_for() -> None:
    data = samples(6)
    found = run_outputs(classifier(), data, [4, 1], SETTINGS)
    assert [sample["y"].shape for sample in found] == [(1, 4)] * 2
    np.testing.assert_allclose(found[0]["y"], 3 * data.inputs["x"][4][:, :4], rtol=1e-6)


@pytest.mark.parametrize("batch", [2, 4, 5])
def test_a_batch_gives_the_same_samples(batch: int) -> None:
    alone = run_outputs(classifier(), samples(9), range(9), SETTINGS)
    together = run_outputs(classifier(), samples(9), range(9), SETTINGS, batch=batch)
    assert len(together) == 9
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_allclose(one["y"], other["y"], rtol=1e-5, atol=1e-6)


def test_outputs_that_cannot_be_told_apart_are_run_one_by_one() -> None:
    model = parse("y = ReduceSum<keepdims = 0>(x)", "(float[n, 8] x) => (float y)")
    data = ir.to_proto(model).SerializeToString()
    found = run_outputs(data, samples(3), range(3), SETTINGS, batch=3)
    expected = [samples(3).inputs["x"][index].sum() for index in range(3)]
    np.testing.assert_allclose([sample["y"] for sample in found], expected, rtol=1e-5)


def test_maps_and_sequences_become_arrays() -> None:
    rows = to_array([{1: 0.7, 0: 0.3}, {0: 0.9, 1: 0.1}])
    np.testing.assert_allclose(rows, [[0.3, 0.7], [0.9, 0.1]])
    assert to_array([np.zeros((2, 2)), np.zeros(3)]).shape == (7,)
    assert to_array([]).shape == (0,)


def test_a_sample_that_fails_gives_one_line() -> None:
    data = Dataset("wrong", "2" * 64, False, {"x": np.zeros((1, 1, 5), np.float32)}, None, np.zeros(1, np.int8))
    with pytest.raises(RunError) as caught:
        run_outputs(classifier(), data, [0], SETTINGS)
    assert "\n" not in caught.value.message
