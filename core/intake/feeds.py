"""Feeds: the data set as a value, one sample after the other exactly as the runtime takes it."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import DataError

Array = np.ndarray[Any, np.dtype[Any]]

#: Key of the labels in an NPZ, and the one that serves where an input bears that name.
LABEL_KEY = "y"
LABEL_KEY_BESIDE_INPUT = "__label__"
SPLIT_KEY = "__split__"
#: Key of the JSON text that says how images, sound or text became these arrays.
PREPROCESSING_KEY = "__preprocessing__"


class Split(IntEnum):
    """What a sample serves: setting ranges, search and thresholds, or the figures that are reported."""

    CALIBRATION = 0
    EVALUATION = 1
    HOLDOUT = 2


@dataclass(frozen=True, slots=True)
class Dataset:
    """Samples that fit one model.

    `inputs` have a leading sample axis: `inputs["x"][i]` is the feed of sample i. `labels` (first axis: samples) are
    None where there are none. `splits` says for each sample which `Split` it belongs to; a split may be empty where
    samples are few, holdout is the last to be. `batch_obstacle` says why samples cannot be concatenated along axis 0
    (None: they can). `remarks` are sentences for the user: proposed sizes, samples left out, equal samples.
    `preprocessing` (as JSON) says how they were made from images, sound or text; None where they came as arrays.
    """

    name: str
    sha256: str
    synthetic: bool
    inputs: Mapping[str, Array] = field(repr=False)
    labels: Array | None = field(repr=False)
    splits: np.ndarray[Any, np.dtype[np.int8]] = field(repr=False)
    batch_obstacle: str | None = None
    remarks: tuple[str, ...] = ()
    preprocessing: Mapping[str, Any] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.splits)

    def feed(self, index: int) -> dict[str, Array]:
        """The inputs of one sample."""
        if not -len(self) <= index < len(self):
            message = f"'{self.name}' has {len(self)} samples; there is no sample {index}."
            raise DataError(message)
        return {name: np.asarray(array[index]) for name, array in self.inputs.items()}

    def batch(self, indices: Sequence[int]) -> dict[str, Array]:
        """The inputs of several samples, concatenated along axis 0.

        Raises:
            DataError: no sample, or an input whose axis 0 is no batch axis and more than one sample.
        """
        if not len(indices):
            raise DataError(f"No sample of '{self.name}' was asked for.")
        if len(indices) == 1:
            return self.feed(indices[0])
        if self.batch_obstacle is not None:
            message = f"Samples cannot run together: {self.batch_obstacle}."
            raise DataError(message, hint="Run this model with batch 1.")
        feeds = [self.feed(index) for index in indices]
        return {name: np.concatenate([feed[name] for feed in feeds]) for name in self.inputs}

    def indices(self, split: Split) -> tuple[int, ...]:
        """The samples of a split, in order."""
        return tuple(int(index) for index in np.flatnonzero(self.splits == int(split)))

    def indices_or_all(self, split: Split) -> tuple[int, ...]:
        """The samples of a split or, where it is empty, all of them."""
        return self.indices(split) or tuple(range(len(self)))

    def shapes(self, batch: int = 1) -> dict[str, tuple[int, ...]]:
        """Input name -> shape of one feed, or of `batch` samples that run together."""
        feeds = {name: tuple(array.shape[1:]) for name, array in self.inputs.items()}
        return {name: (shape[0] * batch, *shape[1:]) if shape else shape for name, shape in feeds.items()}

    def to_npz(self, path: Path) -> None:
        """Writes the samples, labels and splits so that reading the file gives this data set again."""
        label_key = LABEL_KEY_BESIDE_INPUT if LABEL_KEY in self.inputs else LABEL_KEY
        arrays = {**self.inputs, SPLIT_KEY: self.splits}
        if self.labels is not None:
            arrays[label_key] = self.labels
        if self.preprocessing is not None:
            arrays[PREPROCESSING_KEY] = np.array(json.dumps({**self.preprocessing}, sort_keys=True))
        write_npz(path, arrays)


def write_npz(path: Path, arrays: Mapping[str, Array], *, level: int = 6) -> None:
    """Writes named arrays so that equal arrays give equal files: no pickle, no time of day; `level` 1 packs fast."""
    # np.savez takes names as keywords and fails on an input called "file"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for name, array in arrays.items():
            # a name alone gives the entry a fixed date: equal samples give equal files
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, _storable(array), allow_pickle=False)


def sample_digests(inputs: Mapping[str, Array], count: int) -> list[bytes]:
    """One digest per sample over everything it feeds: equal samples have equal digests."""
    names = sorted(inputs)
    digests = []
    for index in range(count):
        digest = hashlib.sha256()
        for name in names:
            array = np.asarray(inputs[name][index])
            digest.update(f"{name}|{array.dtype}|{array.shape}|".encode())
            digest.update(_bytes_of(array))
        digests.append(digest.digest())
    return digests


def content_sha256(digests: Sequence[bytes], labels: Array | None, splits: Array) -> str:
    """Names a data set by what is in it, however the file was packed."""
    digest = hashlib.sha256(b"".join(digests))
    for array in (labels, splits):
        if array is not None:
            digest.update(f"|{array.dtype}|{array.shape}|".encode())
            digest.update(_bytes_of(array))
    return digest.hexdigest()


def _bytes_of(array: Array) -> bytes | memoryview:
    if array.dtype.kind in "OU":
        return repr(array.tolist()).encode()
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _storable(array: Array) -> Array:
    """Strings are objects in memory; on disk they are fixed-width, so that no pickle is needed."""
    return np.asarray(array.tolist(), dtype=np.str_).reshape(array.shape) if array.dtype.kind == "O" else array
