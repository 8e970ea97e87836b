"""Bring: what somebody dropped or chose in a server folder is looked at, and becomes a stored model, data, or both.

Archives are opened and files are parsed here, in the job's own process: none of them can harm the server.
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from core.errors import DataError, ModelError, NotFoundError, RequestError
from core.intake.archive import unpack
from core.intake.bring import Brought
from core.intake.bring import bring as bring_model
from core.intake.folders import find_inside
from core.intake.members import (
    AUDIO_SUFFIXES,
    IMAGE_SUFFIXES,
    NAMED,
    TABLE_SUFFIXES,
    TEXT_SUFFIXES,
    TOKENIZER,
    held,
    kind_of_members,
    open_members,
)
from core.jobs import queue
from core.progress import Progress
from core.store.clean import texts
from core.store.files_copying import Told
from core.store.rows import JobState
from core.store.workspace import Workspace
from core.tasks.params import Params, read_text

_SAMPLES = (*IMAGE_SUFFIXES, *AUDIO_SUFFIXES, *TABLE_SUFFIXES, *TEXT_SUFFIXES)
_MOST_JOBS = 10_000  # more than ever wait
_NEITHER = (
    "Give an .onnx or a .zip with one and its weights; for data an .npz, or images, sound or text, best as a .zip."
)


@dataclass(slots=True)
class _Drop:
    """What was given, sorted: name -> file. `samples` are single images, sounds and texts."""

    model: dict[str, Path] = field(default_factory=dict)
    data: dict[str, Path] = field(default_factory=dict)
    samples: dict[str, Path] = field(default_factory=dict)
    tokenizer: dict[str, Path] = field(default_factory=dict)
    rest: dict[str, Path] = field(default_factory=dict)


def bring(workspace: Workspace, params: Params, progress: Progress) -> dict[str, Any]:
    """Stores the model and data among files.

    Returns:
        `model` (hash, null where there is none or weights are missing), `name`, `origin`, `bytes`; `missing` (names of
        files of weights to give together with it); `data` ({"sha256", "name", "kind", "names", "files"}, null where
        there is none; kind "npz" fits as it is, "images", "audio" and "text" have to be converted; the first names and
        the number of files in it); `tokenizer` (hash or null); `unused` (names of files that belong to nothing).

    Raises:
        RequestError: the files are no model and no data, are several of one kind, or lie where nobody allowed.
        ModelError, DataError: an archive is damaged or hostile, a model is no model.
        WorkError: the workspace cannot be written.
    """
    progress.phase("Look at the files", start=0.0, end=0.1)
    try:
        found = _found(workspace, params, progress)
    except RequestError:  # what was refused belongs to nobody
        _release(workspace, params, {})
        raise
    if not found["missing"]:
        _release(workspace, params, found)
    return {**found, "origin": "server folder" if params.get("folder") is not None else "upload"}


def _found(workspace: Workspace, params: Params, progress: Progress) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="mixdesk-") as folder:
        if params.get("folder") is not None:
            return _from_server(workspace, params, Path(folder), progress)
        return _from_drop(workspace, _sort(_given(workspace, params)), Path(folder), progress)


def _from_server(workspace: Workspace, params: Params, folder: Path, progress: Progress) -> dict[str, Any]:
    relative = read_text(params, "path") or ""
    path = find_inside(read_text(params, "folder") or "", relative)
    if path.suffix.lower() == ".onnx":
        progress.phase(f"Copy {path.name}", start=0.1, end=1.0)
        return _document(bring_model(workspace.files, path, told=_told(progress)))
    return _from_drop(workspace, _sort({path.name: path}), folder, progress)


def _from_drop(workspace: Workspace, drop: _Drop, folder: Path, progress: Progress) -> dict[str, Any]:
    document = _document(None)
    if drop.model:
        progress.phase("Store the model", start=0.1, end=0.7)
        beside = {**drop.rest, **drop.samples}
        brought = bring_model(workspace.files, _as_files(drop.model, beside, folder), told=_told(progress))
        document = _document(brought, known=set(beside))
        unused = set(brought.unused)
        drop.samples = {name: path for name, path in drop.samples.items() if name in unused}
    else:
        document["unused"] = sorted(drop.rest)
    progress.phase("Store the data", start=0.7, end=1.0)
    document["data"] = _data(workspace, drop, folder, progress)
    document["unused"] = [name for name in document["unused"] if name not in drop.samples]
    for path in drop.tokenizer.values():
        document["tokenizer"] = workspace.files.put(path, suffix=".json")
    if document["model"] is None and not document["missing"] and not document["data"] and not drop.tokenizer:
        names = ", ".join(f"'{name}'" for name in sorted(drop.rest)[:3])
        raise RequestError(f"{names} is neither a model nor data.", hint=_NEITHER)
    return document


def _sort(given: Mapping[str, Path]) -> _Drop:
    """Tells models, data and the rest apart, archives by what is in them.

    Raises:
        DataError: an archive is damaged, hostile, or holds nothing of use.
        RequestError: several models or several sets of data.
    """
    drop = _Drop()
    for name, path in given.items():
        place = _place(drop, name, path)
        place[name] = path
    for found, what in ((drop.model, "models"), (drop.data, "sets of data"), (drop.tokenizer, "tokenizers")):
        if len(found) > 1:
            names = ", ".join(f"'{name}'" for name in sorted(found)[:5])
            raise RequestError(f"{len(found)} {what} were given: {names}.", hint="Give one at a time.")
    if drop.data and drop.samples and not drop.model:
        names = f"'{next(iter(drop.data))}' and '{next(iter(drop.samples))}'"
        raise RequestError(f"Two sets of data were given: {names}.", hint="Give one at a time.")
    return drop


def _place(drop: _Drop, name: str, path: Path) -> dict[str, Path]:
    suffix = PurePosixPath(name).suffix.lower()
    if suffix == ".onnx":
        return drop.model
    if suffix == ".zip":
        return drop.model if _holds_model(name, path) else drop.data
    if suffix == ".npz":
        return drop.data
    if suffix == ".json" and PurePosixPath(TOKENIZER).stem in name.lower():
        return drop.tokenizer
    return drop.samples if suffix in _SAMPLES else drop.rest


def _holds_model(name: str, path: Path) -> bool:
    with open_members(path, name=name) as members:
        if any(member.lower().endswith(".onnx") for member in members.names):
            return True
        try:
            kind_of_members(members)
        except DataError as error:
            message = f"'{name}' holds no .onnx, no images, no sound and no text, but {held(members.names)}."
            raise DataError(message, hint=_NEITHER) from error
        return False


def _as_files(model: Mapping[str, Path], beside: Mapping[str, Path], folder: Path) -> Mapping[str, Path]:
    """The model's files by name; an archive that does not come alone is unpacked, so that the others complete it."""
    ((name, path),) = model.items()
    if PurePosixPath(name).suffix.lower() != ".zip" or not beside:
        return {**model, **beside}
    (folder / "model").mkdir()
    main = unpack(path, folder / "model", name=name)
    root = main.parent
    packed = {str(file.relative_to(root)): file for file in sorted(root.rglob("*")) if file.is_file()}
    return {**packed, **beside}


def _document(brought: Brought | None, *, known: set[str] | None = None) -> dict[str, Any]:
    document: dict[str, Any] = {
        "model": None, "name": None, "bytes": None, "missing": [], "data": None, "tokenizer": None, "unused": [],
    }  # fmt: skip
    if brought is None:
        return document
    _refuse_outside(brought)
    return {
        **document,
        "model": None if brought.missing else brought.sha256,
        "name": brought.name,
        "bytes": brought.size_bytes,
        "missing": list(brought.missing),
        "unused": [name for name in brought.unused if known is None or name in known],
    }


def _refuse_outside(brought: Brought) -> None:
    """A file of weights that can never be given is no missing file."""
    for name in brought.missing:
        path = PurePosixPath(name)
        if not path.parts or path.is_absolute() or ".." in path.parts or "\\" in name:
            message = f"The model keeps weights outside its folder ('{name[:200]}'), which is never opened."
            raise ModelError(message, hint="Export the model again, with its data files beside it.")


def _data(workspace: Workspace, drop: _Drop, folder: Path, progress: Progress) -> dict[str, Any] | None:
    if drop.samples and not drop.data:
        drop.data = _packed(drop.samples, folder)
    for name, path in drop.data.items():
        suffix = PurePosixPath(name).suffix.lower()
        with open_members(path, name=name) as members:
            kind = kind_of_members(members)
            holds = {"names": list(members.names[:NAMED]), "files": len(members.names)}
        sha256 = workspace.files.put(path, suffix=suffix, told=_told(progress))
        return {"sha256": sha256, "name": name, "kind": kind, **holds}
    return None


def _packed(samples: Mapping[str, Path], folder: Path) -> dict[str, Path]:
    """One file as it is; several in one archive, by which they are one set of data."""
    if len(samples) == 1:
        return dict(samples)
    name = f"{len(samples)} files.zip"
    with zipfile.ZipFile(folder / "samples.zip", "w", zipfile.ZIP_STORED) as archive:
        for member, path in sorted(samples.items()):
            info = zipfile.ZipInfo(member)  # of a fixed date: the same files are the same archive
            with path.open("rb") as source, archive.open(info, "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target)
    return {name: folder / "samples.zip"}


def _given(workspace: Workspace, params: Params) -> dict[str, Path]:
    files = params.get("files")
    if not isinstance(files, Sequence) or not files:
        raise RequestError("The job does not say its 'files'.")
    found = {}
    for each in files:
        if not workspace.files.has(each["sha256"]):
            raise NotFoundError(f"The file '{each['name']}' is not in the workspace any more.", hint="Give it again.")
        found[str(each["name"])] = workspace.files.path(each["sha256"])
    return found


def _told(progress: Progress) -> Told:
    def told(done: int, total: int) -> None:
        progress.step(done, max(total, 1), f"{done / 1e6:,.0f} of {total / 1e6:,.0f} MB")

    return told


def _release(workspace: Workspace, params: Params, found: Mapping[str, Any]) -> None:
    """Uploaded pieces that were stored again as parts of something whole are not kept twice."""
    data = found.get("data") or {}
    kept = {found.get("model"), found.get("tokenizer"), data.get("sha256")}
    files = [str(each["sha256"]) for each in params.get("files") or ()]
    kept |= _wanted_by_other_jobs(workspace, files)
    for sha256 in files:
        if sha256 not in kept and not _is_used(workspace, sha256):
            workspace.files.remove(sha256)


def _wanted_by_other_jobs(workspace: Workspace, files: Sequence[str]) -> set[str]:
    """Which of these files more than one job that waits or runs names: this one, and another."""
    active = queue.jobs(workspace, states=(JobState.QUEUED, JobState.RUNNING), limit=_MOST_JOBS)
    named = Counter(text for row in active for text in set(texts(row.params)))
    return {sha256 for sha256 in files if named[sha256] > 1}


def _is_used(workspace: Workspace, sha256: str) -> bool:
    for look in (workspace.model, workspace.dataset):
        try:
            look(sha256)
        except NotFoundError:
            continue
        return True
    return any(row.file_sha256 == sha256 for row in workspace.candidates())
