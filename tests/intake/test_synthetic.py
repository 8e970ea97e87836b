from __future__ import annotations

import numpy as np
import onnx.parser
import pytest

from core.errors import DataError
from core.intake import synthetic
from core.intake.load import load_model
from core.intake.synthetic import synthetic_dataset
from tests.intake.texts import HEAD, load

EMBEDDING = """g (int64[batch,seq] ids, int64[batch,seq] attention_mask, int64[batch,seq] position_ids)
=> (float[batch,seq,2] y)
<float[5,2] table = {0,0,0,0,0,0,0,0,0,0}> { u = Cast <to = 7> (ids)  y = Gather (table, u) }"""


def test_the_same_seed_makes_the_same_samples() -> None:
    model = load("g (float[n,3] x) => (float[n,3] y) { y = Relu (x) }")
    one, same, other = (synthetic_dataset(model, seed=seed) for seed in (1, 1, 2))
    assert one.sha256 == same.sha256 != other.sha256
    assert one.synthetic
    assert one.labels is None
    assert len(one) == 32


def test_indices_stay_inside_the_table_masks_are_ones_positions_count() -> None:
    data = synthetic_dataset(load(EMBEDDING))
    assert set(np.unique(data.inputs["ids"])) == {0, 1, 2, 3, 4}
    assert data.inputs["attention_mask"].all()
    assert data.feed(0)["position_ids"].tolist() == [list(range(32))]


def test_a_sample_rate_is_one_that_models_know() -> None:
    data = synthetic_dataset(load("g (int64 sr, float[n] x) => (float[n] y) { y = Relu (x) }"))
    assert data.feed(0)["sr"] == 16_000


def test_every_type_gets_numbers_of_its_own() -> None:
    data = synthetic_dataset(
        load(
            "g (bool[n] b, uint8[n] u, string[n] s, float16[n] h, int32[n] i) => (bool[n] y) { y = Not (b) }",
        ),
        shapes={"b": (50,)},
    )
    feed = data.feed(0)
    assert {name: array.dtype for name, array in feed.items()} == {
        "b": np.dtype(bool),
        "u": np.dtype(np.uint8),
        "s": np.dtype(object),
        "h": np.dtype(np.float16),
        "i": np.dtype(np.int32),
    }
    assert set(np.unique(feed["i"])) == {0, 1}
    assert feed["u"].max() > 1


def test_given_shapes_hold_for_the_same_symbols_elsewhere() -> None:
    data = synthetic_dataset(load(EMBEDDING), shapes={"ids": (2, 7)})
    assert data.shapes() == {"ids": (2, 7), "attention_mask": (2, 7), "position_ids": (2, 7)}


def test_assumed_sizes_are_told() -> None:
    model = load("g (float[n,3] x) => (float[n,3] y) { y = Relu (x) }")
    assert synthetic_dataset(model).remarks == (
        "Sizes that the model leaves open were assumed: 'x' [1, 3] for [n, 3].",
    )
    assert synthetic_dataset(model, shapes={"x": (2, 3)}).remarks == ()


@pytest.mark.parametrize(
    ("shapes", "said"),
    [
        ({"xx": (1, 3)}, "no input 'xx'. Did you mean 'x'?"),
        ({"x": (1, 4)}, "takes [n, 3], but the shape [1, 4] was given"),
        ({"x": (3,)}, "takes [n, 3], but the shape [3] was given"),
        ({"x": (-1, 3)}, "the shape [-1, 3] was given"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(shapes: dict[str, tuple[int, ...]], said: str) -> None:
    with pytest.raises(DataError) as refused:
        synthetic_dataset(load("g (float[n,3] x) => (float[n,3] y) { y = Relu (x) }"), shapes=shapes)
    assert said in refused.value.message


def test_an_input_of_unknown_rank_asks_for_a_shape() -> None:
    proto = onnx.parser.parse_model(HEAD + "g (float[n] x) => (float[n] y) { y = Relu (x) }")
    proto.graph.input[0].type.tensor_type.ClearField("shape")
    model = load_model(proto.SerializeToString())
    with pytest.raises(DataError, match="no size can be proposed") as refused:
        synthetic_dataset(model)
    assert "--shape x=" in (refused.value.hint or "")
    assert synthetic_dataset(model, shapes={"x": (2, 3)}).shapes() == {"x": (2, 3)}


def test_an_input_that_is_no_tensor_cannot_be_made_up() -> None:
    model = load("g (seq(float[n]) s) => (float[m] y) { y = ConcatFromSequence <axis = 0> (s) }")
    with pytest.raises(DataError, match="cannot be made up or fed"):
        synthetic_dataset(model)


def test_large_inputs_get_fewer_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthetic, "MOST_BYTES", 10_000)
    model = load("g (float[n,100] x) => (float[n,100] y) { y = Relu (x) }")
    assert len(synthetic_dataset(model)) == 25
    assert len(synthetic_dataset(model, shapes={"x": (1000, 100)})) == 4


def test_a_model_without_inputs_has_samples_that_are_all_held_out() -> None:
    data = synthetic_dataset(load("g () => (float[2] y) <float[2] w = {1, 2}> { y = Relu (w) }"))
    assert data.feed(0) == {}
    assert set(data.splits.tolist()) == {2}
