"""Convert: images, sound or text become data of the workspace that fits one model, with the preprocessing kept."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.errors import NotFoundError, RequestError
from core.intake.convert import Converted, convert_data
from core.intake.preprocessing import Preprocessing
from core.progress import Part, Progress
from core.store.workspace import Workspace
from core.tasks.params import Params, Subject, read_text, read_whole
from core.tasks.prepare import load
from core.tasks.propose import propose
from core.tasks.shapes import tried_shapes


def convert(workspace: Workspace, params: Params, progress: Progress) -> dict[str, Any]:
    """Makes an NPZ of a folder, an archive or a file, and keeps it as data of the model.

    Args:
        workspace: where it is kept.
        params: `model`; `source` (a hash) or `source_path` (on this machine), `source_name`; `preprocessing` (null: a
            proposal, whose guesses are among the remarks); `tokenizer` (a hash) or `tokenizer_path`; `limit`; `seed`.
        progress: is told which sample is read.

    Returns:
        `data` (its hash), `name`, `samples`, `labels`, `preprocessing`, `remarks`.

    Raises:
        DataError: nothing can be read, or the preprocessing does not fit.
        NotFoundError: the workspace has no such file.
    """
    subject = Subject.read(params)
    progress.phase("Read the model", start=0.0, end=0.1)
    model, _ = load(workspace, subject, strict=False)
    source = _path(workspace, params, "source")
    if source is None:
        raise RequestError("The job does not say its 'source'.")
    tokenizer = _path(workspace, params, "tokenizer")
    name = read_text(params, "source_name") or source.name
    how = _declared(params)
    if how is None:
        progress.phase("Look for a preprocessing", start=0.1, end=0.3)
        proposal = tried_shapes(workspace, subject, model).shapes
        how = propose(
            model,
            source,
            tokenizer=tokenizer,
            shapes=subject.shapes,
            proposal=proposal,
            name=name,
            settings=subject.settings,
            seed=subject.seed,
            progress=progress,
        )
    progress.phase("Read the samples", start=0.3, end=0.9)
    with tempfile.TemporaryDirectory(prefix="mixdesk-") as folder:
        made = convert_data(
            source,
            model,
            how,
            out=Path(folder) / "data.npz",
            tokenizer=tokenizer,
            limit=None if params.get("limit") is None else read_whole(params, "limit", default=1, least=1),
            seed=subject.seed,
            name=name,
            progress=Part(progress, start=0.3, end=0.9),
        )
        progress.phase("Keep the data", start=0.9, end=1.0)
        sha256 = workspace.files.put(made.path, suffix=".npz")
        size_bytes = made.path.stat().st_size
    workspace.add_dataset(Path(name).stem, sha256, subject.model, size_bytes)
    return _document(made, sha256, Path(name).stem)


def _document(made: Converted, sha256: str, name: str) -> dict[str, Any]:
    return {
        "data": sha256,
        "name": name,
        "samples": made.samples,
        "labels": made.labels,
        "preprocessing": made.preprocessing.to_dict(),
        "remarks": list(made.remarks),
    }


def _declared(params: Params) -> Preprocessing | None:
    given = params.get("preprocessing")
    if isinstance(given, Mapping):
        return Preprocessing.from_dict(given)
    if given is not None:
        raise RequestError(f"'preprocessing' must be a JSON object, not {given!r}.")
    return None


def _path(workspace: Workspace, params: Params, what: str) -> Path | None:
    """The stored file of that hash, else the path on this machine, else None."""
    sha256, path = read_text(params, what), read_text(params, f"{what}_path")
    if sha256 is not None:
        if not workspace.files.has(sha256):
            raise NotFoundError(f"The workspace has no {what} file {sha256[:12]}.", hint="Give the file again.")
        return workspace.files.path(sha256)
    if path is None:
        return None
    found = Path(path)
    if not found.exists():
        raise NotFoundError(f"There is no file or folder '{path}'.", hint="Check the path of the data.")
    return found
