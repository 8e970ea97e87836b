"""Files: the models and data a command names, and the file it is to write."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.cli.data import data_params
from core.cli.not_yet import refuse
from core.errors import NotFoundError, RequestError

if TYPE_CHECKING:
    from core.cli.request import Request
    from core.store.workspace import Workspace

_EXTERNAL_MARK = b"location"
"""In the bytes of every model whose weights lie in other files: the key under which they are named."""


@dataclass(frozen=True, slots=True)
class Source:
    """A model as named on the command line: its file, its name, where it is from, and the data that belongs to it."""

    path: Path
    name: str
    origin: str
    data: Path | None = None


def find_model(text: str) -> Source:
    """The file of that path, or else the sample of that name.

    Raises:
        NotFoundError: neither exists.
        RequestError: it is a folder.
    """
    path = Path(text).expanduser()
    if path.is_dir():
        raise RequestError(f"'{text}' is a folder, not a model.", hint="Name the .onnx file in it.")
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
    """Stores a model file and returns its hash; weights that lie in other files are read into it first.

    Where such a file is missing or unsafe to open, the model is stored as it is: whoever loads it says what is wrong.
    """
    if _EXTERNAL_MARK not in path.read_bytes():
        return workspace.files.put(path)
    import onnx
    from google.protobuf.message import DecodeError

    from core.intake.external import has_external_data
    from core.intake.load import load_model

    try:
        external = has_external_data(onnx.ModelProto.FromString(path.read_bytes()))
    except DecodeError:
        external = False
    if not external:
        return workspace.files.put(path)
    model = load_model(path, strict=False)
    broken = any(finding.severity == "error" for finding in model.findings)
    return workspace.files.put(path if broken else model.to_bytes())


def check_out(out: Path | None, *inputs: Path | None) -> None:
    """Makes sure, before hours of work, that the result can be written where it is asked.

    Raises:
        UnavailableError: a bundle, which is not in this version.
        RequestError: no .onnx file, no such folder, no permission, or one of the inputs.
    """
    if out is None:
        return
    if out.suffix == ".o3":
        refuse("Writing a bundle (.o3)", instead="Write the model itself: -o NAME.onnx.")
    if out.suffix != ".onnx":
        raise RequestError(f"'{out}' does not end in .onnx.", hint="Write -o NAME.onnx.")
    if out.is_dir():
        raise RequestError(f"'{out}' is a folder.", hint="Name a file in it.")
    if not out.parent.is_dir():
        raise RequestError(f"There is no folder '{out.parent}' to write '{out.name}' in.", hint="Create it first.")
    if not os.access(out.parent, os.W_OK):
        raise RequestError(f"The folder '{out.parent}' does not let you write '{out.name}'.")
    for given in inputs:
        if given is not None and out.exists() and out.samefile(given):
            raise RequestError(f"'{out}' is an input of this command and is not overwritten.", hint="Name another.")


def write_out(content: Path, out: Path) -> None:
    """Copies the result there in one step: whoever looks sees the old file or the whole new one."""
    handle, name = tempfile.mkstemp(dir=out.parent, prefix=f".{out.name}.")
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as target, content.open("rb") as source:
            shutil.copyfileobj(source, target)
        part.chmod(0o666 & ~_umask())
        part.replace(out)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
