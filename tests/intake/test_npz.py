from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.errors import DataError
from core.intake.dataset import Split, read_dataset
from core.intake.model import Model
from tests.intake.texts import load

MODEL = load("g (float[batch,3] x, int64[batch,k] ids) => (float[batch,3] z) { z = Relu (x) }")


def npz(**arrays: Any) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def good(samples: int = 4, **changes: Any) -> dict[str, Any]:
    arrays: dict[str, Any] = {
        "x": np.arange(samples * 3, dtype=np.float32).reshape(samples, 3),
        "ids": np.zeros((samples, 5), np.int64),
    }
    return {**arrays, **changes}


def refusal(model: Model = MODEL, **arrays: Any) -> DataError:
    with pytest.raises(DataError) as refused:
        read_dataset(npz(**arrays), model)
    assert "\n" not in refused.value.message
    return refused.value


def test_an_array_of_the_inputs_rank_is_cut_along_axis_0() -> None:
    data = read_dataset(npz(**good()), MODEL)
    assert len(data) == 4
    assert data.shapes() == {"x": (1, 3), "ids": (1, 5)}
    np.testing.assert_array_equal(data.feed(1)["x"], [[3, 4, 5]])
    assert not data.synthetic


def test_an_array_with_one_more_dimension_holds_one_feed_per_sample() -> None:
    data = read_dataset(npz(**good(x=np.zeros((4, 2, 3), np.float32), ids=np.zeros((4, 2, 5), np.int64))), MODEL)
    assert data.shapes() == {"x": (2, 3), "ids": (2, 5)}


def test_labels_are_y_unless_an_input_bears_that_name() -> None:
    labels = np.array([0, 1, 2, 3])
    data = read_dataset(npz(**good(y=labels)), MODEL)
    assert data.labels is not None
    assert data.labels.tolist() == [0, 1, 2, 3]
    other = load("g (float[n,2] y) => (float[n,2] z) { z = Relu (y) }")
    features = np.zeros((4, 2), np.float32)
    assert read_dataset(npz(y=features), other).labels is None
    found = read_dataset(npz(y=features, __label__=labels), other).labels
    assert found is not None
    assert found.tolist() == [0, 1, 2, 3]


def test_the_file_may_say_the_split() -> None:
    data = read_dataset(npz(**good(__split__=np.array([2, 2, 0, 1]))), MODEL)
    assert data.indices(Split.HOLDOUT) == (0, 1)
    assert "0 (calibration)" in refusal(**good(__split__=np.array([0, 1, 2, 3]))).message
    assert "each of the 4 samples" in refusal(**good(__split__=np.array([0, 1]))).message


def test_a_sample_in_two_splits_is_told() -> None:
    data = read_dataset(npz(**good(x=np.zeros((4, 3), np.float32), __split__=np.array([0, 1, 2, 2]))), MODEL)
    assert any("more than one split" in remark for remark in data.remarks)
    assert any("3 of 4 samples repeat" in remark for remark in data.remarks)


def test_wrong_names_are_refused_with_the_nearest_input() -> None:
    error = refusal(**good(xs=np.zeros((4, 3), np.float32)))
    assert error.message == "The model has no input 'xs'. Did you mean 'x'?"
    assert "'x', 'ids'" in (error.hint or "")
    assert refusal(x=good()["x"]).message == "The data has no array for input 'ids'."


def test_the_element_type_must_be_exact() -> None:
    error = refusal(**good(x=np.zeros((4, 3))))
    assert error.message == "Input 'x' takes float32, but the data has float64."
    assert error.hint == "Convert the array: array.astype('float32')."


@pytest.mark.parametrize("shape", [(4, 2), (4, 1, 2), (4,), (4, 1, 1, 3)])
def test_the_shape_must_fit(shape: tuple[int, ...]) -> None:
    assert "Input 'x' takes [batch, 3], but" in refusal(**good(x=np.zeros(shape, np.float32))).message


def test_a_fixed_first_axis_is_not_cut() -> None:
    fixed = load("g (float[2,3] x) => (float[2,3] z) { z = Relu (x) }")
    assert "takes [2, 3]" in refusal(fixed, x=np.zeros((8, 3), np.float32)).message
    assert len(read_dataset(npz(x=np.zeros((8, 2, 3), np.float32)), fixed)) == 8


def test_one_symbol_is_one_size() -> None:
    error = refusal(**good(x=np.zeros((4, 2, 3), np.float32)))
    assert error.message == "The size 'batch' is 2 in input 'x' and 1 in input 'ids'."


@pytest.mark.parametrize(("number", "word"), [(np.nan, "NaN"), (np.inf, "an infinite number")])
def test_bad_numbers_name_input_and_sample(number: float, word: str) -> None:
    arrays = good()
    arrays["x"][2, 1] = number
    assert refusal(**arrays).message == f"Input 'x' has {word} in sample 2."


def test_labels_of_another_length_are_refused() -> None:
    assert refusal(**good(y=np.arange(3))).message == "The data has 4 samples, but 3 labels."
    assert refusal(**good(y=np.int64(3))).message == "The data has 4 samples, but a single label."


def test_inputs_must_have_equally_many_samples_and_at_least_one() -> None:
    assert "has 4 samples, but 'ids' has 3" in refusal(**good(ids=np.zeros((3, 5), np.int64))).message
    assert refusal(**good(0)).message == "The data has no samples."


def test_pickled_objects_are_never_opened() -> None:
    assert "never opened" in refusal(**good(x=np.array([{}, {}, {}, {}], dtype=object))).message


@pytest.mark.parametrize("data", [b"not a zip", b"PK\x03\x04" + bytes(50)])
def test_what_is_no_npz_is_refused(data: bytes) -> None:
    with pytest.raises(DataError, match="NPZ file"):
        read_dataset(data, MODEL)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="There is no file"):
        read_dataset(tmp_path / "no.npz", MODEL)


def test_strings_are_read_without_pickle() -> None:
    model = load("g (string[n] s) => (string[n] t) { t = Identity (s) }")
    feed = read_dataset(npz(s=np.array(["a", "bc"])), model).feed(1)
    assert feed["s"].tolist() == ["bc"]
    assert feed["s"].dtype == object


def test_a_weight_may_be_repeated_but_not_changed() -> None:
    model = load("g (float[n,2] x) => (float[n,2] z) <float[2] w = {1, 2}> { z = Add (x, w) }")
    x = np.zeros((4, 2), np.float32)
    assert list(read_dataset(npz(x=x, w=np.array([1, 2], np.float32)), model).inputs) == ["x"]
    assert "is a weight" in refusal(model, x=x, w=np.array([1, 3], np.float32)).message


def test_the_hash_names_the_content_not_the_packing() -> None:
    stream = io.BytesIO()
    np.savez_compressed(stream, **good())
    packed = read_dataset(stream.getvalue(), MODEL)
    plain = read_dataset(npz(**good()), MODEL)
    assert packed.sha256 == plain.sha256
    assert read_dataset(npz(**good(y=np.arange(4))), MODEL).sha256 != plain.sha256


def test_how_arrays_were_made_is_read_from_beside_them() -> None:
    text = '{"kind": "images", "size": [8, 8], "remarks": ["3 files were left out.", 7]}'
    data = read_dataset(npz(**good(__preprocessing__=np.array(text))), MODEL)
    assert data.preprocessing is not None
    assert data.preprocessing["size"] == [8, 8]
    assert data.remarks[0] == "3 files were left out."
    assert data.sha256 == read_dataset(npz(**good()), MODEL).sha256


@pytest.mark.parametrize("text", ["{", "[]", "3", '{"kind": "video"}', '{"kind": "images", "size": 3}'])
def test_a_broken_account_of_how_they_were_made_is_refused(text: str) -> None:
    assert refusal(**good(__preprocessing__=np.array(text))).message


def test_several_accounts_are_refused() -> None:
    assert "no JSON object" in refusal(**good(__preprocessing__=np.array(["{}", "{}"]))).message


def test_an_empty_file_is_named_and_called_empty(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    path.write_bytes(b"")
    with pytest.raises(DataError, match=r"^'x\.npz' is empty: the file has zero bytes\.$"):
        read_dataset(path, MODEL)
    with pytest.raises(DataError, match=r"^'x\.npz' is empty: the file has zero bytes\.$"):
        read_dataset(b"", MODEL, name="x")


@pytest.mark.parametrize("name", ["x", "x.npz", "X.NPZ"])
def test_text_that_is_called_npz_is_named(name: str) -> None:
    with pytest.raises(DataError, match=r"(?i)^'x\.npz' is not an NPZ file\.$"):
        read_dataset(b"1,2,3", MODEL, name=name)


def test_labels_that_cannot_be_right_are_remarked() -> None:
    data = read_dataset(npz(**good(y=np.array([0, 1, 2, 7]))), MODEL)
    assert "1 of 4 labels (7 is the first) cannot be right: output 'z' has 3 classes, numbered 0 to 2." in data.remarks
