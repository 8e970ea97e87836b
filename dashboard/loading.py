"""Bringing models and data in: samples, uploads and synthetic inputs, all kept by their content hash."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from core.errors import DataError, ModelError, RequestError
from core.intake.samples import Sample, find_sample, list_samples
from core.store.rows import DatasetRow, ModelRow, now
from dashboard import services, state
from dashboard.options import UPLOAD_LIMIT_MB
from dashboard.services import Subject

_NAME_LIMIT = 80
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")


def samples() -> tuple[Sample, ...]:
    """The samples that come with Mixdesk."""
    return list_samples()


def open_sample(name: str) -> None:
    """Puts a sample with its data on the desk and has it read."""
    sample = find_sample(name)
    workspace = services.workspace()
    model, data = workspace.files.put(sample.model, suffix=".onnx"), workspace.files.put(sample.data, suffix=".npz")
    workspace.add_model(sample.name, model, sample.model.stat().st_size, "sample")
    workspace.add_dataset(sample.data.stem, data, model, sample.data.stat().st_size)
    state.choose_model(model, data=data)
    services.ensure_inspected(_on_desk(), afresh=True)


def open_upload(given: Sequence[tuple[str, bytes]]) -> None:
    """Takes uploaded files: an .onnx puts a model on the desk, an .npz becomes its data (or the present model's).

    Only names and sizes are judged here. The bytes are read in a child process, since a malformed model may end the
    process that reads it; what is wrong with them is told by that job.

    Raises:
        ModelError, DataError, RequestError: a file is empty, too large, or neither of the two.
    """
    files, names = dict(given), [name for name, _ in given]
    model_file, data_file = _one(names, ".onnx"), _one(names, ".npz")
    for name in files:
        if name not in (model_file, data_file):
            hint = "Give one .onnx file and, if you have it, one .npz file with its inputs."
            raise RequestError(f"'{shown_name(name)}' is neither a model (.onnx) nor data (.npz).", hint=hint)
    for name, content in files.items():
        _check_size(name, content)
    on = _on_desk() if model_file is None else Subject(_keep_model(model_file, files[model_file]), data=None)
    if data_file is not None:
        on = replace(on, data=_keep_data(data_file, files[data_file], on.model))
    _put(on, afresh=True)


def leave_data() -> None:
    """Takes data that does not fit off the desk: other data of this model if there is any, else synthetic inputs."""
    state.DATA.set(None)
    services.ensure_inspected(_on_desk())


def use_synthetic(shapes: Mapping[str, Sequence[int]]) -> None:
    """Judges the model on seeded synthetic inputs of these shapes (none: proposed ones)."""
    chosen = {name: tuple(shape) for name, shape in shapes.items()}
    _put(replace(_on_desk(), data=None, shapes=chosen))


def use_data(sha256: str) -> None:
    """Judges the model on other data that was given for it."""
    on = _on_desk()
    chosen = next((row for row in services.datasets(on.model) if row.sha256 == sha256), on.data)
    _put(replace(on, data=chosen, shapes={}))


def shown_name(file_name: str) -> str:
    """A file's name without folders and control characters, of a length that fits a menu."""
    name = PurePath(file_name.replace("\\", "/")).name
    return _CONTROL.sub(" ", name)[:_NAME_LIMIT].strip() or "unnamed"


def shown_origin(origin: str) -> str:
    """Where a model is from, as a browser may see it: of a path on the server only the file's name."""
    return shown_name(origin) if "/" in origin or "\\" in origin else origin


def _put(on: Subject, *, afresh: bool = False) -> None:
    if state.MODEL.get() != on.model.sha256[: state.LINK_DIGITS]:
        state.choose_model(on.model.sha256)
    state.DATA.set(state.SYNTHETIC if on.data is None else on.data.sha256)
    state.choose_shapes(on.shapes)
    services.ensure_inspected(on, afresh=afresh)


def _on_desk() -> Subject:
    on = services.subject()
    if on is None:
        raise DataError("There is no model to use this data with.", hint="Give the .onnx file together with the data.")
    return on


def _keep_model(name: str, content: bytes) -> ModelRow:
    sha256 = services.workspace().files.put(content, suffix=".onnx")
    known = next((row for row in services.models() if row.sha256 == sha256), None)
    if known is not None:
        return services.workspace().add_model(known.name, sha256, known.size_bytes, "upload")
    return ModelRow(sha256=sha256, name=_stem(name), size_bytes=len(content), origin="upload", created_at=now())


def _keep_data(name: str, content: bytes, model: ModelRow) -> DatasetRow:
    return DatasetRow(
        sha256=services.workspace().files.put(content, suffix=".npz"),
        model_sha256=model.sha256,
        name=_stem(name),
        size_bytes=len(content),
        synthetic=False,
        created_at=now(),
    )


def _one(names: Sequence[str], suffix: str) -> str | None:
    found = [name for name in names if PurePath(name).suffix.lower() == suffix]
    if len(found) > 1:
        raise RequestError(f"{len(found)} {suffix} files were given.", hint=f"Give one {suffix} file at a time.")
    return found[0] if found else None


def _check_size(name: str, content: bytes) -> None:
    kind = ModelError if name.lower().endswith(".onnx") else DataError
    if not content:
        raise kind(f"'{shown_name(name)}' is empty.", hint="Export or copy the file again.")
    if len(content) > UPLOAD_LIMIT_MB * 1024**2:
        hint = "Use the command line on the server for larger files."
        raise kind(f"'{shown_name(name)}' is larger than {UPLOAD_LIMIT_MB} MB.", hint=hint)


def _stem(name: str) -> str:
    return PurePath(shown_name(name)).stem
