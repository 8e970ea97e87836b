"""NPZ: a file of named arrays becomes a data set that fits the model.

Each key is an input's name. An array with one dimension more than the input holds one feed per sample; one of the same
rank is cut along axis 0, if that axis is open or 1. `y` (or `__label__`, where an input is called y) are the labels,
`__split__` says which sample calibrates (0), evaluates (1) or is held out (2), `__preprocessing__` is the JSON that
says how images, sound or text became these arrays.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir
import psutil

from core.errors import DataError
from core.intake.feeds import (
    LABEL_KEY,
    LABEL_KEY_BESIDE_INPUT,
    PREPROCESSING_KEY,
    SPLIT_KEY,
    Array,
    Dataset,
    Split,
    content_sha256,
    sample_digests,
)
from core.intake.fit import (
    batch_obstacle,
    check_finite,
    check_symbols,
    count_samples,
    refuse_missing,
    refuse_unknown,
    stack_samples,
)
from core.intake.label_fit import label_remarks
from core.intake.model import Model
from core.intake.preprocessing import Preprocessing
from core.intake.splits import split_samples

_NPZ = ".npz"
_HOW_TO_WRITE = "Write it with numpy.savez('data.npz', INPUT=array, y=labels)."


def read_dataset(source: Path | bytes, model: Model, *, name: str | None = None, seed: int = 0) -> Dataset:
    """Reads samples for a model.

    Args:
        source: an NPZ file's path or bytes.
        model: the model they are for.
        name: what to call the data set, here and in messages; the file's name if not given.
        seed: order of the split, where the file does not say it.

    Raises:
        DataError: no NPZ, or its arrays do not fit the model; names the input and, where it is one, the sample.
    """
    arrays = _open(source, name)
    weights = model.ir.graph.initializers
    label_key = _label_key(model, arrays)
    made, told = _preprocessing(model, arrays)
    names = [key for key in arrays if key not in (label_key, SPLIT_KEY)]
    specs = {spec.name: spec for spec in model.inputs}
    refuse_unknown(model, [key for key in names if key not in weights])
    refuse_missing(model, names)
    inputs = {key: stack_samples(specs[key], arrays[key]) for key in specs}
    for key in (key for key in names if key not in specs):
        _refuse_other_weight(arrays[key], weights[key])
    count = count_samples(inputs)
    check_symbols(model, inputs)
    for key, array in inputs.items():
        check_finite(key, array)
    labels = _labels(arrays, label_key, count)
    digests = sample_digests(inputs, count)
    given = arrays.get(SPLIT_KEY)
    splits = split_samples(digests, seed=seed) if given is None else _given_splits(given, count)
    return Dataset(
        name=name or (source.stem if isinstance(source, Path) else "data"),
        sha256=content_sha256(digests, labels, splits),
        synthetic=False,
        inputs=inputs,
        labels=labels,
        splits=splits,
        batch_obstacle=batch_obstacle(model),
        remarks=(*told, *_remarks(digests, splits), *label_remarks(model, labels)),
        preprocessing=made,
    )


def _open(source: Path | bytes, name: str | None) -> dict[str, Array]:
    """All arrays of an NPZ, read without unpickling anything."""
    content = source if isinstance(source, bytes) else _read_file(source)
    label = _label(source, name)
    if not content:
        raise DataError(f"{label} is empty: the file has zero bytes.", hint=_HOW_TO_WRITE)
    stream = io.BytesIO(content)
    try:
        with zipfile.ZipFile(stream) as archive:
            _refuse_too_large(archive, label)
        with np.load(stream, allow_pickle=False) as archive:
            return {key: np.asarray(archive[key]) for key in archive.files}
    except zipfile.BadZipFile as error:
        raise DataError(f"{label} is not an NPZ file.", hint=_HOW_TO_WRITE) from error
    except ValueError as error:
        if "pickle" in str(error):
            message = f"{label} holds pickled Python objects, which are never opened."
            raise DataError(message, hint="Store plain arrays of numbers or text.") from error
        raise DataError(f"{label} is not a readable NPZ file: {error}.", hint=_HOW_TO_WRITE) from error
    except (OSError, EOFError, KeyError, NotImplementedError, RuntimeError) as error:
        raise DataError(f"{label} is not a readable NPZ file: {error}.", hint=_HOW_TO_WRITE) from error


def _label(source: Path | bytes, name: str | None) -> str:
    """How messages call the file: its name, else the data set's, which leaves the ending out."""
    if isinstance(source, Path):
        return f"'{source.name}'"
    return "The data" if not name else f"'{name if name.lower().endswith(_NPZ) else name + _NPZ}'"


def _read_file(path: Path) -> bytes:
    if path.is_dir():
        raise DataError(f"'{path}' is a folder, not a data file.", hint="Name the .npz file inside it.")
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise DataError(f"There is no file '{path}'.", hint="Check the path of the data.") from error
    except OSError as error:
        raise DataError(f"The file '{path}' cannot be read: {error.strerror}.") from error


def _refuse_too_large(archive: zipfile.ZipFile, label: str) -> None:
    """Refuses what would not fit into memory once unpacked."""
    unpacked = sum(member.file_size for member in archive.infolist())
    available = psutil.virtual_memory().available
    if unpacked > available:
        message = f"{label} unpacks to {unpacked / 1e9:.1f} GB, but only {available / 1e9:.1f} GB of memory are free."
        raise DataError(message, hint="Give fewer samples.")


def _refuse_other_weight(array: Array, weight: ir.Value) -> None:
    """Old exporters list weights as inputs: data that repeats the stored numbers is welcome, other numbers are not."""
    if weight.const_value is None or not np.array_equal(array, weight.const_value.numpy()):
        message = f"'{weight.name}' is a weight of the model and cannot be fed with other numbers."
        raise DataError(message, hint="Leave it out of the data.")


def _label_key(model: Model, arrays: Mapping[str, Array]) -> str | None:
    """The key under which the labels are, None where there are none."""
    is_input = any(spec.name == LABEL_KEY for spec in model.inputs)
    found = [
        key for key in (LABEL_KEY_BESIDE_INPUT, LABEL_KEY) if key in arrays and not (key == LABEL_KEY and is_input)
    ]
    if len(found) > 1:
        raise DataError(f"The data has labels twice: '{LABEL_KEY}' and '{LABEL_KEY_BESIDE_INPUT}'.", hint="Keep one.")
    return found[0] if found else None


def _labels(arrays: Mapping[str, Array], key: str | None, count: int) -> Array | None:
    if key is None:
        return None
    labels = arrays[key]
    if labels.ndim == 0 or len(labels) != count:
        given = "a single label" if labels.ndim == 0 else f"{len(labels)} labels"
        raise DataError(f"The data has {count} samples, but {given}.", hint="Give one label per sample.")
    check_finite(key, labels, what="The label array")
    return labels


def _preprocessing(model: Model, arrays: dict[str, Array]) -> tuple[dict[str, Any] | None, tuple[str, ...]]:
    """How the arrays were made from other files, where the data says so, and what was remarked then; taken out."""
    if any(spec.name == PREPROCESSING_KEY for spec in model.inputs) or PREPROCESSING_KEY not in arrays:
        return None, ()
    text = arrays.pop(PREPROCESSING_KEY)
    try:
        document = json.loads(str(text.item()))
        remarks = document.pop("remarks", [])
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        message = f"'{PREPROCESSING_KEY}' of the data is no JSON object."
        raise DataError(message, hint="Leave that array out.") from error
    told = tuple(text for text in remarks if isinstance(text, str))
    return Preprocessing.from_dict(document).to_dict(), told


def _given_splits(given: Array, count: int) -> np.ndarray[tuple[int], np.dtype[np.int8]]:
    if given.shape != (count,):
        raise DataError(f"'{SPLIT_KEY}' must have one number for each of the {count} samples.")
    if given.dtype.kind not in "iu" or not np.isin(given, [int(split) for split in Split]).all():
        raise DataError(f"'{SPLIT_KEY}' may hold 0 (calibration), 1 (evaluation) and 2 (holdout) only.")
    return given.astype(np.int8)


def _remarks(digests: list[bytes], splits: Array) -> list[str]:
    """What weakens the figures: samples that occur twice, or in two splits."""
    places: dict[bytes, set[int]] = {}
    for digest, split in zip(digests, splits.tolist(), strict=True):
        places.setdefault(digest, set()).add(split)
    remarks = []
    if len(places) < len(digests):
        remarks.append(f"{len(digests) - len(places)} of {len(digests)} samples repeat another one.")
    leaking = sum(len(found) > 1 for found in places.values())
    if leaking:
        remarks.append(f"{leaking} samples occur in more than one split: the accuracy on holdout is too good.")
    return remarks
