"""What is given from Python, model and data, becomes files of the workspace and the parameters that name them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from core.api.arrays import npz_of
from core.api.desk import Desk
from core.errors import DataError, ModelError, NotFoundError, RequestError
from core.intake.bring import bring
from core.intake.convert import tokenizer_beside
from core.intake.members import kind_of
from core.intake.preprocessing import Preprocessing, declared
from core.intake.samples import find_sample, list_samples

if TYPE_CHECKING:
    import onnx

#: An .onnx file, a .zip or folder with one, a sample's name, serialized bytes, or a loaded `onnx.ModelProto`.
ModelGiven: TypeAlias = Union[str, Path, bytes, "onnx.ModelProto"]
#: A file or folder, a mapping of arrays (first axis: samples), or an iterable of feeds (one for each sample).
DataGiven: TypeAlias = str | Path | Mapping[str, Any] | Iterable[Mapping[str, Any]]
OutputsGiven: TypeAlias = str | Sequence[str] | Mapping[str, float]
#: How images, sound or text become inputs: a declared value, its JSON as a mapping, or the path of a .json file.
PreprocessingGiven: TypeAlias = Preprocessing | Mapping[str, Any] | str | Path

_LONGEST_NAME = 80


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A model, its data, and how both are run: what all functions of the Python face have in common."""

    model: ModelGiven
    data: DataGiven | None = None
    labels: Any = None
    preprocessing: PreprocessingGiven | None = None
    tokenizer: str | Path | None = None
    limit: int | None = None
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
        return params | self._put_data(desk, params, sample_data if self.data is None else self.data)

    def _put_data(self, desk: Desk, params: Mapping[str, Any], data: DataGiven | None) -> dict[str, Any]:
        """Stores the data; its hash and name, both None for seeded synthetic inputs."""
        path = find_data(data)
        if path is not None and kind_of(path) != "npz":
            _refuse_labels(self.labels, data)
            return self._convert(desk, params, path)
        self._refuse_unused()
        return put_data(desk, data, self.labels)

    def _convert(self, desk: Desk, params: Mapping[str, Any], path: Path) -> dict[str, Any]:
        """Images, sound or text become an NPZ in a job of its own."""
        beside = tokenizer_beside(find_model(self.model)[0], path)
        tokenizer = beside if self.tokenizer is None else Path(self.tokenizer).expanduser()
        asked = {
            "source_path": str(path.resolve()),
            "source_name": path.name,
            "preprocessing": None if self.preprocessing is None else read_preprocessing(self.preprocessing),
            "tokenizer_path": None if tokenizer is None else str(tokenizer.resolve()),
            "limit": self.limit,
        }
        made = desk.run("convert", {**params, **asked}, title=f"Read {path.name}")
        return {"data": made["data"], "data_name": made["name"]}

    def _refuse_unused(self) -> None:
        for name in ("preprocessing", "tokenizer", "limit"):
            if getattr(self, name) is not None:
                message = f"{name}= has nothing to work on: the data is neither images, sound nor text."
                raise DataError(message, hint="Leave it out, or give a folder, .zip, .wav, .csv or .txt as data.")


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
    """Stores the model with the weights that lie beside it; its hash, its name, and where it came from.

    Raises:
        ModelError: neither a file nor a model in memory, or an archive or folder without just one model.
    """
    if found is not None:
        is_sample = found != Path(str(model)).expanduser()
        brought = bring(desk.workspace.files, found)
        origin = "sample" if is_sample else str(found.resolve())
        return {"model": brought.sha256, "model_name": brought.name, "origin": origin}
    return {"model": desk.workspace.files.put(_serialized(model)), "model_name": _name_of(model), "origin": "Python"}


def find_data(data: DataGiven | None) -> Path | None:
    """The path of data that lies in a file or folder; None where it is in memory, or none is given.

    Raises:
        NotFoundError: there is no such file.
    """
    if not isinstance(data, str | Path):
        return None
    path = Path(data).expanduser()
    if not path.exists():
        raise NotFoundError(f"There is no data file '{data}'.")
    return path


def put_data(desk: Desk, data: DataGiven | None, labels: Any) -> dict[str, Any]:
    """Stores an NPZ, arrays or feeds; their hash and name, both None for seeded synthetic inputs.

    Raises:
        NotFoundError: there is no such file.
        DataError: arrays that make no data set; labels beside a file, or without data.
    """
    _refuse_labels(labels, data)
    if data is None:
        return {"data": None, "data_name": None}
    if isinstance(data, str | Path):
        path = find_data(data)
        assert path is not None
        return {"data": desk.workspace.files.put(path, suffix=".npz"), "data_name": path.stem}
    return {"data": desk.workspace.files.put(npz_of(data, labels), suffix=".npz"), "data_name": "arrays"}


def _refuse_labels(labels: Any, data: DataGiven | None) -> None:
    if labels is not None and (data is None or isinstance(data, str | Path)):
        hint = "Labels go with arrays or feeds; a file holds its own under 'y'."
        raise DataError("labels= was given without arrays to label.", hint=hint)


def read_preprocessing(given: PreprocessingGiven) -> dict[str, Any]:
    """The JSON of a preprocessing, checked.

    Raises:
        NotFoundError, DataError: no such file, or no preprocessing.
    """
    document: Any = given.to_dict() if isinstance(given, Preprocessing) else given
    if isinstance(document, str | Path):
        path = Path(document).expanduser()
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise NotFoundError(f"There is no preprocessing file '{path}'.") from error
        except (OSError, ValueError) as error:
            raise DataError(f"The preprocessing '{path}' cannot be read: {error}.") from error
    if not isinstance(document, Mapping):
        raise DataError("A preprocessing is a JSON object.", hint='For example {"kind": "images", "size": [224, 224]}.')
    return declared(document).to_dict()


def read_pins(pins: Mapping[str, str] | None) -> dict[str, str]:
    """Layer id -> precision; whether the model has such a layer is seen where the model is read.

    Raises:
        RequestError: no mapping.
    """
    if pins is None:
        return {}
    if not isinstance(pins, Mapping):
        raise RequestError(f"pins= cannot be {pins!r}.", hint='Give layers with their precision: {"conv1": "fp32"}.')
    return dict(pins)


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
