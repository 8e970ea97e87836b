"""Files: the models and data a command names, and the file it is to write."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.cli.data import data_params
from core.errors import NotFoundError, RequestError

if TYPE_CHECKING:
    from core.cli.request import Request
    from core.store.workspace import Workspace

#: How a bundle's name ends.
BUNDLE = ".o3"


@dataclass(frozen=True, slots=True)
class Source:
    """A model as named on the command line: its file, its name, where it is from, and the data that belongs to it."""

    path: Path
    name: str
    origin: str
    data: Path | None = None


def find_model(text: str) -> Source:
    """The file of that path, or else the sample of that name.

    The path may be that of a .zip or of a folder with one .onnx.

    Raises:
        NotFoundError: neither exists.
        ModelError: a folder with no or several .onnx.
    """
    path = Path(text).expanduser()
    if path.is_dir():
        from core.intake.bring import find_onnx

        path = find_onnx(path)
    if path.is_file():
        return Source(path=path, name=path.stem, origin=str(path.resolve()))
    from core.intake.samples import find_sample, list_samples

    if os.sep in text or text.endswith(".onnx"):
        raise NotFoundError(f"There is no file '{text}'.", hint="'mixdesk samples' lists the models that come along.")
    try:
        sample = find_sample(text)
    except NotFoundError as error:
        known = ", ".join(sample.name for sample in list_samples())
        raise NotFoundError(f"There is no file '{text}'. {error.message}", hint=f"Samples: {known}.") from error
    return Source(path=sample.model, name=sample.name, origin="sample", data=sample.data)


def find_data(path: Path | None, source: Source) -> Path | None:
    """The data to use: the file asked for, else the sample's own, else None (synthetic inputs).

    Raises:
        NotFoundError: there is no such file.
    """
    if path is None:
        return source.data
    if not path.exists():
        raise NotFoundError(f"There is no data file '{path}'.")
    return path


def subject_params(workspace: Workspace, source: Source, data: Path | None, request: Request) -> dict[str, Any]:
    """Puts model and data into the workspace; the job's parameters that name them.

    Images, sound and texts become arrays first, in a job of their own.
    """
    params = {
        "model": put_model(workspace, source.path),
        "model_name": source.name,
        "origin": source.origin,
    }
    return params | data_params(workspace, params, source.path, data, request)


def put_model(workspace: Workspace, path: Path) -> str:
    """Stores a model, with the weights that lie beside it, and returns its hash; an archive is unpacked.

    Where a file of weights is missing or unsafe to open, the model is stored without: whoever loads it says what is
    wrong.
    """
    from core.intake.bring import bring

    return bring(workspace.files, path).sha256


def check_out(out: Path | None, *inputs: Path | None) -> None:
    """Makes sure, before hours of work, that the result can be written where it is asked.

    Raises:
        RequestError: neither .onnx nor .o3, no such folder, no permission, or one of the inputs.
    """
    if out is None:
        return
    if out.suffix not in {".onnx", BUNDLE}:
        hint = "Write -o NAME.onnx for the model, or -o NAME.o3 for a bundle with all that belongs to it."
        raise RequestError(f"'{out}' does not end in .onnx or {BUNDLE}.", hint=hint)
    check_writable(out, *inputs)


def check_writable(out: Path, *inputs: Path | None) -> None:
    """Makes sure that a file can be written there and is none of the inputs.

    Raises:
        RequestError: it is a folder or an input, or its folder is not there or may not be written.
    """
    if out.is_dir():
        raise RequestError(f"'{out}' is a folder.", hint="Name a file in it.")
    if not out.parent.is_dir():
        raise RequestError(f"There is no folder '{out.parent}' to write '{out.name}' in.", hint="Create it first.")
    if not os.access(out.parent, os.W_OK):
        raise RequestError(f"The folder '{out.parent}' does not let you write '{out.name}'.")
    for given in inputs:
        if given is not None and _overwrites(out, given):
            raise RequestError(f"'{out}' is an input of this command and is not overwritten.", hint="Name another.")


def _overwrites(out: Path, given: Path) -> bool:
    """Whether writing a model there would replace an input, or the weights of one."""
    from core.intake.external import data_paths, external_files
    from core.intake.pack import data_beside

    if out.exists() and out.samefile(given):
        return True
    beside = data_beside(out)
    if not beside.exists() or given.suffix != ".onnx":
        return False
    return any(beside.samefile(path) for path in data_paths(external_files(given), given.parent).values())


def write_out(
    workspace: Workspace, document: Mapping[str, Any], out: Path | None, *, data: bool = True, original: bool = True
) -> dict[str, Any]:
    """Writes the model that a job made, each file in one step; the completed document.

    Where `out` ends in .o3 it is a bundle, with the holdout samples and the original unless told otherwise. `output`
    and `output_data` name the files: a model of several files is written with its large weights beside it.
    """
    if out is None:
        return {**document, "output": None, "output_data": None}
    if out.suffix == BUNDLE:
        from core.tasks.bundle import bundle_candidate

        bundle_candidate(workspace, document["candidate"], out=out, data=data, original=original)
        return {**document, "output": str(out), "output_data": None}
    from core.intake.pack import write_stored

    _, *beside = write_stored(workspace.files, document["file"], out)
    return {**document, "output": str(out), "output_data": str(beside[0]) if beside else None}
