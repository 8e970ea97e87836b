"""What is given from Python, model and data, becomes files of the workspace and the parameters that name them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from core.api.arrays import npz_of
from core.api.desk import Desk
from core.errors import DataError, ModelError, NotFoundError, RequestError
from core.intake.samples import find_sample, list_samples

if TYPE_CHECKING:
    import onnx

#: An .onnx file, a sample's name, serialized bytes, or a loaded `onnx.ModelProto`.
ModelGiven: TypeAlias = Union[str, Path, bytes, "onnx.ModelProto"]
#: A file, a mapping of arrays (first axis: samples), or an iterable of feeds (one for each sample).
DataGiven: TypeAlias = str | Path | Mapping[str, Any] | Iterable[Mapping[str, Any]]
OutputsGiven: TypeAlias = str | Sequence[str] | Mapping[str, float]

_LONGEST_NAME = 80


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A model, its data, and how both are run: what all functions of the Python face have in common."""

    model: ModelGiven
    data: DataGiven | None = None
    labels: Any = None
    shapes: Mapping[str, Sequence[int]] | None = None
    outputs: OutputsGiven | None = None
    threads: int = 1
    batch: int = 1
    seed: int = 0

    def put(self, desk: Desk) -> dict[str, Any]:
        """Stores model and data in the desk's workspace; the parameters of a job on them.

        Raises:
            NotFoundError, ModelError, DataError, RequestError: what was given is not there, or of no kind we know.
        """
        found, sample_data = find_model(self.model)
        params = {
            **put_model(desk, self.model, found),
            "threads": _whole("threads", self.threads, least=1),
            "batch": _whole("batch", self.batch, least=1),
            "seed": _whole("seed", self.seed, least=0),
            "shapes": {str(name): _sizes(name, shape) for name, shape in (self.shapes or {}).items()},
        }
        weights = read_outputs(self.outputs)
        if weights:
            params["outputs"] = weights
        return params | put_data(desk, sample_data if self.data is None else self.data, self.labels)


def find_model(model: ModelGiven) -> tuple[Path | None, Path | None]:
    """The model's file (None: it is in memory), and the data that comes along where it is a sample.

    Raises:
        NotFoundError: no such file and no such sample.
    """
    if not isinstance(model, str | Path):
        return None, None
    path = Path(model).expanduser()
    if path.exists():
        return path, None
    if isinstance(model, Path) or os.sep in model or path.suffix:
        raise NotFoundError(f"There is no file '{model}'.", hint="list_samples() names the models that come along.")
    try:
        sample = find_sample(model)
    except NotFoundError as error:
        known = ", ".join(sample.name for sample in list_samples())
        raise NotFoundError(f"There is no file '{model}'. {error.message}", hint=f"Samples: {known}.") from error
    return sample.model, sample.data


def put_model(desk: Desk, model: ModelGiven, found: Path | None) -> dict[str, Any]:
    """Stores the model; its hash, its name, and where it came from.

    Raises:
        ModelError: neither a file nor a model in memory, or a folder.
    """
    if found is not None:
        if found.is_dir():
            raise ModelError(f"'{found}' is a folder, not a model.", hint="Name the .onnx file in it.")
        is_sample = found != Path(str(model)).expanduser()
        origin = "sample" if is_sample else str(found.resolve())
        return {"model": desk.workspace.files.put(found), "model_name": found.stem, "origin": origin}
    return {"model": desk.workspace.files.put(_serialized(model)), "model_name": _name_of(model), "origin": "Python"}


def put_data(desk: Desk, data: DataGiven | None, labels: Any) -> dict[str, Any]:
    """Stores the data; its hash and name, both None for seeded synthetic inputs.

    Raises:
        NotFoundError: there is no such file.
        DataError: arrays that make no data set; labels beside a file, or without data.
    """
    if labels is not None and (data is None or isinstance(data, str | Path)):
        hint = "Labels go with arrays or feeds; a file holds its own under 'y'."
        raise DataError("labels= was given without arrays to label.", hint=hint)
    if data is None:
        return {"data": None, "data_name": None}
    if isinstance(data, str | Path):
        path = Path(data).expanduser()
        if not path.exists():
            raise NotFoundError(f"There is no data file '{data}'.")
        return {"data": desk.workspace.files.put(path, suffix=".npz"), "data_name": path.stem}
    return {"data": desk.workspace.files.put(npz_of(data, labels), suffix=".npz"), "data_name": "arrays"}


def read_outputs(outputs: OutputsGiven | None) -> dict[str, float]:
    """Chosen outputs with their weights (1 where only names are given); empty for all of them.

    Raises:
        RequestError: a weight is no number.
    """
    if outputs is None:
        return {}
    names = [outputs] if isinstance(outputs, str) else outputs
    given = names if isinstance(names, Mapping) else dict.fromkeys(names, 1.0)
    try:
        return {str(name): float(weight) for name, weight in given.items()}
    except (TypeError, ValueError) as error:
        raise RequestError(f"The weight of an output must be a number: {error}.") from error


def _serialized(model: ModelGiven) -> bytes:
    if isinstance(model, bytes):
        return model
    serialize = getattr(model, "SerializeToString", None)
    if serialize is None:
        message = f"A model cannot be given as {type(model).__name__}."
        raise ModelError(message, hint="Give a path, a sample's name, the bytes of a file, or an onnx.ModelProto.")
    try:
        return bytes(serialize())
    except ValueError as error:  # protobuf's limit of 2 GB
        message = f"The model cannot be serialized: {error}."
        raise ModelError(message, hint="Save it with external data and give the path.") from error


def _name_of(model: ModelGiven) -> str:
    name = str(getattr(getattr(model, "graph", None), "name", "") or "model")
    return " ".join(name.split())[:_LONGEST_NAME]


def _whole(name: str, value: object, *, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise RequestError(f"{name} must be a whole number of at least {least}, not {value!r}.")
    return value


def _sizes(name: str, shape: Sequence[int]) -> list[int]:
    try:
        return [int(size) for size in shape]
    except (TypeError, ValueError) as error:
        message = f"The shape of '{name}' must be a sequence of whole numbers, not {shape!r}."
        raise RequestError(message) from error
