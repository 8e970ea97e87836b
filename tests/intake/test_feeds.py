from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.errors import DataError
from core.intake.dataset import Dataset, Split, read_dataset, synthetic_dataset
from core.intake.model import Model
from tests.intake.texts import load

TWO_INPUTS = "g (float[n,2] a, int64[n] b) => (float[n,2] c) { c = Relu (a) }"


def dataset(model: Model, samples: int = 4) -> Dataset:
    return synthetic_dataset(model, samples=samples)


def test_a_feed_is_what_one_run_takes() -> None:
    feed = dataset(load(TWO_INPUTS)).feed(1)
    assert feed["a"].shape == (1, 2)
    assert feed["a"].dtype == np.float32


def test_a_scalar_is_fed_as_an_array_not_as_a_numpy_number() -> None:
    feed = dataset(load("g (int64 s, float[2] x) => (float[2] y) { y = Relu (x) }")).feed(0)
    assert isinstance(feed["s"], np.ndarray)
    assert feed["s"].shape == ()


def test_samples_are_concatenated_along_the_batch_axis() -> None:
    data = dataset(load("g (float[n,2] a) => (float[n,2] c) { c = Relu (a) }"))
    batch = data.batch((0, 2))
    np.testing.assert_array_equal(batch["a"], np.concatenate([data.feed(0)["a"], data.feed(2)["a"]]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("g (float[2,2] a) => (float[2,2] c) { c = Relu (a) }", "input 'a' is fixed to 2 in front"),
        ("g (float[n] a, float[m] b) => (float[n] c) { c = Relu (a) }", "different sizes in front, 'n' and 'm'"),
        ("g (float[n] a, int64 b) => (float[n] c) { c = Relu (a) }", "input 'b' has no axis for it"),
    ],
)
def test_samples_that_cannot_run_together_say_why(text: str, said: str) -> None:
    data = dataset(load(text))
    assert len(data.batch((1,))) == len(data.inputs)
    with pytest.raises(DataError, match=said):
        data.batch((0, 1))


def test_an_unknown_sample_is_refused() -> None:
    with pytest.raises(DataError, match="has 4 samples; there is no sample 4"):
        dataset(load(TWO_INPUTS)).feed(4)


def test_what_is_written_reads_back_the_same(tmp_path: Path) -> None:
    model = load("g (float[n,2] y, string[n] file) => (float[n,2] c) { c = Relu (y) }")
    made = dataset(model)
    labelled = Dataset(made.name, made.sha256, False, made.inputs, np.arange(4), made.splits)
    labelled.to_npz(tmp_path / "d.npz")
    again = read_dataset(tmp_path / "d.npz", model)
    np.testing.assert_array_equal(again.inputs["y"], made.inputs["y"])
    assert again.feed(2)["file"].tolist() == made.feed(2)["file"].tolist()
    assert again.labels is not None
    assert again.labels.tolist() == [0, 1, 2, 3]
    assert again.splits.tolist() == made.splits.tolist()
    assert [again.indices(split) for split in Split] == [made.indices(split) for split in Split]
