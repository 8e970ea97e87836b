"""Arrays and feeds become an NPZ as the contract has it, and what makes none is told with the sample's number."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from core.api.arrays import npz_of
from core.errors import DataError


def read(content: bytes) -> dict[str, Any]:
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def feeds(count: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        yield {"x": np.full((1, 2), number, np.float32), "n": number}


def test_a_mapping_is_kept_as_it_is_and_labels_join_it() -> None:
    found = read(npz_of({"x": np.ones((3, 2), np.float32), "__split__": [0, 1, 2]}, labels=[1, 0, 1]))
    assert sorted(found) == ["__split__", "x", "y"]
    assert found["x"].dtype == np.float32
    assert found["y"].tolist() == [1, 0, 1]


def test_labels_give_way_to_an_input_called_y() -> None:
    assert sorted(read(npz_of({"y": np.ones((3, 2))}, labels=[1, 0, 1]))) == ["__label__", "y"]


def test_feeds_of_an_iterator_are_stacked() -> None:
    found = read(npz_of(feeds(3), labels=range(3)))
    assert found["x"].shape == (3, 1, 2)
    assert found["x"][2, 0].tolist() == [2, 2]
    assert found["n"].tolist() == found["y"].tolist() == [0, 1, 2]


def test_equal_arrays_give_equal_bytes() -> None:
    assert npz_of(feeds(3)) == npz_of(list(feeds(3)))


def test_any_name_and_text_can_be_stored() -> None:
    found = read(npz_of({"file": np.array(["a", "bcd"], dtype=object), "a/b": np.ones(2)}))
    assert found["file"].tolist() == ["a", "bcd"]
    assert "a/b" in found


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({}, "empty"),
        ([], "empty"),
        (np.ones((3, 2)), "ndarray"),
        (5, "int"),
        ([np.ones(2)], "Sample 0 is of type ndarray"),
        ([{"x": [1]}, {"z": [1]}], "Sample 1 feeds 'z', the first one 'x'"),
        ([{"x": [1, 2]}, {"x": [1]}], "'x' has shape 1 in sample 1 and 2 in the first one"),
        ({"x": [[1, 2], [3]]}, "'x'"),
        ({"x": [object()]}, "Python objects"),
    ],
)
def test_what_makes_no_data_is_refused(data: Any, says: str) -> None:
    with pytest.raises(DataError, match=says):
        npz_of(data)


def test_an_iterator_without_end_is_stopped_before_memory_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    class Memory:
        available = 1000

    monkeypatch.setattr("core.api.arrays.psutil.virtual_memory", Memory)
    with pytest.raises(DataError, match="do not fit into memory"):
        npz_of(feeds(10**9))
