"""Bringing models and data in: samples, uploads and synthetic inputs, all kept by their content hash."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from core.errors import DataError, ModelError, RequestError
from core.intake.folders import DATA_SUFFIXES, find_inside
from core.intake.members import IMAGE_SUFFIXES
from core.intake.samples import Sample, find_sample, list_samples
from core.store.rows import DatasetRow, ModelRow, now
from dashboard import opening, services, state
from dashboard.options import UPLOAD_LIMIT_MB
from dashboard.services import Subject

_NAME_LIMIT = 80
_PLAIN_SUFFIX = re.compile(r"\.[a-z0-9]{1,8}")
_NEITHER = "Give an .onnx, or a .zip with one and its weights; as data an .npz, or images, sound or text in a .zip."
#: What to do with data for which no model is open; it holds for drops and for files of a server folder.
MODEL_FIRST = "Open its model first, then the data; or drop both together."
#: In the bytes of every model whose weights lie in other files: the key under which they are named.
_EXTERNAL_MARK = b"location"
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
    """Takes uploaded files: a model in whatever form, its data, or both.

    Only names and sizes are judged here. One .onnx and one .npz are put on the desk at once; everything else is looked
    at by a job, since files from strangers may end the process that reads them, and `opening` tells how it ends. Files
    that come without a model complete one that waits for its weights; those it does not wait for are told and dropped.

    Raises:
        ModelError, DataError, RequestError: a file is empty, too large, or there is nothing to use it for.
    """
    for name, content in given:
        _check_size(name, content)
    files, waiting = dict(given), opening.waiting()
    model_file, data_file = _one(list(files), ".onnx"), _one(list(files), ".npz")
    if waiting is not None and model_file is None and not any(_suffix(name) in (".zip", ".npz") for name in files):
        _complete(waiting, files)
    elif model_file is None or _needs_a_look(files, model_file):
        _look_at_data_or_more(files, data_file)
    else:
        on = Subject(_keep_model(model_file, files[model_file]), data=None)
        put_on_desk(
            on if data_file is None else replace(on, data=_keep_data(data_file, files[data_file], on.model)),
            afresh=True,
        )


def _complete(waiting: opening.Waiting, files: Mapping[str, bytes]) -> None:
    """Adds the weights that a model waits for; other files are not kept, and it goes on waiting."""
    fitting = {name: content for name, content in files.items() if waiting.asks_for(_file_name(name))}
    told = opening.told_not_asked_for([shown_name(name) for name in files if name not in fitting], waiting.missing)
    if not fitting:
        raise RequestError(told)
    if told:
        state.TOLD.set(told)
    _look_at({**waiting.files, **_staged(fitting)}, waiting.name)


def _look_at_data_or_more(files: Mapping[str, bytes], data_file: str | None) -> None:
    """What is not one plain model: data for the model on the desk, an archive, or a model in several files."""
    if data_file is not None and len(files) == 1:
        on = _on_desk()
        put_on_desk(replace(on, data=_keep_data(data_file, files[data_file], on.model)), afresh=True)
        return
    kinds = {_suffix(name) for name in files}
    for name in files:
        if not kinds & {".onnx", ".zip"} and _suffix(name) not in (*DATA_SUFFIXES, *IMAGE_SUFFIXES, ".json"):
            raise RequestError(f"'{shown_name(name)}' is neither a model nor data.", hint=_NEITHER)
    if not kinds & {".onnx", ".zip"}:
        _on_desk()
    first = next((name for name in files if _suffix(name) in (".onnx", ".zip")), next(iter(files)))
    _look_at(_staged(files), shown_name(first))


def open_server_file(folder: str, path: str) -> None:
    """Has a file of an allowed server folder looked at and copied in, with the weights beside it.

    Raises:
        NotFoundError, RequestError: it is not there, or not where the owner allows.
    """
    find_inside(folder, path)
    state.OPENING.set(services.submit_bring(f"Open {PurePath(path).name}", folder=folder, path=path))


def _needs_a_look(files: Mapping[str, bytes], model_file: str) -> bool:
    """Whether there is more than a model in one piece and, maybe, an .npz."""
    return any(_suffix(name) not in (".onnx", ".npz") for name in files) or _EXTERNAL_MARK in files[model_file]


def _staged(files: Mapping[str, bytes]) -> dict[str, str]:
    """Writes uploads to disk; name -> hash."""
    put = services.workspace().files.put
    return {_file_name(name): put(content, suffix=_stored_suffix(name)) for name, content in files.items()}


def _look_at(staged: Mapping[str, str], name: str) -> None:
    files = [{"name": each, "sha256": sha256} for each, sha256 in staged.items()]
    state.OPENING.set(services.submit_bring(f"Open {name}", files=files))


def leave_data() -> None:
    """Takes data that does not fit off the desk: other data of this model if there is any, else synthetic inputs."""
    state.DATA.set(None)
    services.ensure_inspected(_on_desk())


def use_synthetic(shapes: Mapping[str, Sequence[int]]) -> None:
    """Judges the model on seeded synthetic inputs of these shapes (none: proposed ones)."""
    chosen = {name: tuple(shape) for name, shape in shapes.items()}
    put_on_desk(replace(_on_desk(), data=None, shapes=chosen))


def use_data(sha256: str) -> None:
    """Judges the model on other data that was given for it."""
    on = _on_desk()
    chosen = next((row for row in services.datasets(on.model) if row.sha256 == sha256), on.data)
    put_on_desk(replace(on, data=chosen, shapes={}))


def shown_name(file_name: str) -> str:
    """A file's name without folders and control characters, of a length that fits a menu."""
    name = PurePath(file_name.replace("\\", "/")).name
    return _CONTROL.sub(" ", name)[:_NAME_LIMIT].strip() or "unnamed"


def shown_origin(origin: str) -> str:
    """Where a model is from, as a browser may see it: of a path on the server only the file's name."""
    return shown_name(origin) if "/" in origin or "\\" in origin else origin


def put_on_desk(on: Subject, *, afresh: bool = False, then: Mapping[state.LinkKey, str | None] | None = None) -> None:
    """Makes this what the link names, and sees to it that it gets read.

    Args:
        on: model, data and shapes.
        afresh: read it also where that failed before.
        then: further entries of the link, set last and in this order.
    """
    services.ensure_inspected(on, afresh=afresh)
    other = state.MODEL.get() != on.model.sha256[: state.LINK_DIGITS]
    closed: tuple[state.LinkKey, ...] = (*state.OF_ONE_MODEL, state.PREPARING) if other else ()
    data = state.SYNTHETIC if on.data is None else on.data.sha256
    last = then or ({state.OPENING: None} if other else {})
    now_on: dict[state.LinkKey, str | None] = {state.DATA: data, state.SHAPES: state.shapes_text(on.shapes)}
    state.set_in_order({**dict.fromkeys(closed), **now_on, state.MODEL: on.model.sha256, **last})


def _on_desk() -> Subject:
    on = services.subject()
    if on is None:
        raise DataError("There is no model to use this data with.", hint=MODEL_FIRST)
    return on


def model_row(name: str, sha256: str, size_bytes: int, origin: str) -> ModelRow:
    """The row of a stored model; one that is known already keeps its name and takes the new origin."""
    known = next((row for row in services.models() if row.sha256 == sha256), None)
    if known is not None:
        return services.workspace().add_model(known.name, sha256, known.size_bytes, origin)
    return ModelRow(sha256=sha256, name=shown_name(name), size_bytes=size_bytes, origin=origin, created_at=now())


def data_row(name: str, sha256: str, size_bytes: int, model: ModelRow) -> DatasetRow:
    """The row that stored data will get once it was read and fits."""
    return DatasetRow(
        sha256=sha256,
        model_sha256=model.sha256,
        name=_stem(name),
        size_bytes=size_bytes,
        synthetic=False,
        created_at=now(),
    )


def _keep_model(name: str, content: bytes) -> ModelRow:
    sha256 = services.workspace().files.put(content, suffix=".onnx")
    return model_row(_stem(name), sha256, len(content), "upload")


def _keep_data(name: str, content: bytes, model: ModelRow) -> DatasetRow:
    return data_row(name, services.workspace().files.put(content, suffix=".npz"), len(content), model)


def _suffix(name: str) -> str:
    return PurePath(name).suffix.lower()


def _file_name(name: str) -> str:
    """The name under which a model may ask for a file: as it was given, without folders."""
    return PurePath(name.replace("\\", "/")).name or "unnamed"


def _stored_suffix(name: str) -> str:
    suffix = _suffix(name)
    return suffix if _PLAIN_SUFFIX.fullmatch(suffix) else ""


def _one(names: Sequence[str], suffix: str) -> str | None:
    found = [name for name in names if PurePath(name).suffix.lower() == suffix]
    if len(found) > 1:
        raise RequestError(f"{len(found)} {suffix} files were given.", hint=f"Give one {suffix} file at a time.")
    return found[0] if found else None


def _check_size(name: str, content: bytes) -> None:
    kind = ModelError if _suffix(name) == ".onnx" else DataError
    if not content:
        raise kind(f"'{shown_name(name)}' is empty.", hint="Export or copy the file again.")
    if len(content) > UPLOAD_LIMIT_MB * 1024**2:
        hint = "Larger files are opened from a folder of the server that its owner allows."
        raise kind(f"'{shown_name(name)}' is larger than {UPLOAD_LIMIT_MB} MB.", hint=hint)


def _stem(name: str) -> str:
    return PurePath(shown_name(name)).stem
