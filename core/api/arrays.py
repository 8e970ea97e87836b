"""Arrays in memory become an NPZ as the contract has it; equal arrays give equal bytes, so results are found again.

A mapping holds one array per input, first axis samples. An iterable gives one feed per sample, exactly as a session
takes it; feeds of one shape are stacked.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import psutil

from core.errors import DataError
from core.intake.feeds import LABEL_KEY, LABEL_KEY_BESIDE_INPUT

Array = np.ndarray[Any, np.dtype[Any]]

_DATE = (1980, 1, 1, 0, 0, 0)
_HOW = 'Give {"input": array} (first axis: samples), or an iterable of feeds like [{"input": array}, ...].'


def npz_of(data: Mapping[str, Any] | Iterable[Mapping[str, Any]], labels: Any = None) -> bytes:
    """The bytes of an NPZ with these inputs and labels.

    Args:
        data: input name -> array with one entry per sample (keys `y` and `__split__` as in a file), or feeds.
        labels: one per sample; None: none beyond what the mapping holds.

    Raises:
        DataError: no arrays of numbers or text, no samples, feeds that differ in their names or shapes.
    """
    if isinstance(data, Mapping):
        arrays = {str(name): _array(str(name), value) for name, value in data.items()}
    else:
        arrays = _stack(data)
    if not arrays:
        raise DataError("The data is empty.", hint=_HOW)
    if labels is not None:
        key = LABEL_KEY_BESIDE_INPUT if LABEL_KEY in arrays else LABEL_KEY
        arrays[key] = _array("labels", labels)
    return _npz(arrays)


def _stack(feeds: Iterable[Mapping[str, Any]]) -> dict[str, Array]:
    """Input name -> array of all samples."""
    if isinstance(feeds, str | bytes | np.ndarray) or not isinstance(feeds, Iterable):
        raise DataError(f"The data is {_kind(feeds)}, which does not say what input it is for.", hint=_HOW)
    found: dict[str, list[Array]] = {}
    room = psutil.virtual_memory().available
    for number, feed in enumerate(feeds):
        if not isinstance(feed, Mapping):
            raise DataError(f"Sample {number} is {_kind(feed)}, not a mapping of input names to arrays.", hint=_HOW)
        if number and set(feed) != set(found):
            message = f"Sample {number} feeds {_names(feed)}, the first one {_names(found)}."
            raise DataError(message, hint="Every sample must feed the same inputs.")
        for name, value in feed.items():
            array = _array(str(name), value, sample=number)
            kept = found.setdefault(str(name), [])
            _check_like_the_first(str(name), number, array, kept)
            kept.append(array)
            room -= array.nbytes
        if room < 0:
            message = f"The samples do not fit into memory: it is full after {number + 1}."
            raise DataError(message, hint="Give fewer samples, for example with itertools.islice.")
    return {name: np.stack(arrays) for name, arrays in found.items()}


def _check_like_the_first(name: str, number: int, array: Array, kept: list[Array]) -> None:
    if kept and array.shape != kept[0].shape:
        message = f"'{name}' has shape {_shape(array)} in sample {number} and {_shape(kept[0])} in the first one."
        raise DataError(message, hint="Samples of one data set have one shape: pad them, or group them by length.")


def _array(name: str, value: Any, *, sample: int | None = None) -> Array:
    of = "" if sample is None else f" of sample {sample}"
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise DataError(f"'{name}'{of} cannot be read as an array: {error}.") from error
    if array.dtype.kind == "O":
        if not all(isinstance(item, str) for item in array.flat):
            message = f"'{name}'{of} holds Python objects ({_kind(array.flat[0])}), not numbers or text."
            raise DataError(message, hint="Rows of different length must be padded first.")
        array = np.asarray(array.tolist(), dtype=np.str_).reshape(array.shape)
    return array


def _npz(arrays: Mapping[str, Array]) -> bytes:
    """Like `numpy.savez`, for any name and without the time of day."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy", date_time=_DATE), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)
    return stream.getvalue()


def _kind(value: object) -> str:
    return f"of type {type(value).__name__}"


def _names(feed: Mapping[str, Any]) -> str:
    return ", ".join(sorted(f"'{name}'" for name in feed)) or "nothing"


def _shape(array: Array) -> str:
    return "x".join(str(size) for size in array.shape) or "of a scalar"
