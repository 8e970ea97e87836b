"""Data: an NPZ is stored as it is; images, sound and texts become one first, and what was guessed is told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.cli import answer, work
from core.errors import DataError, NotFoundError

if TYPE_CHECKING:
    from core.cli.request import Request
    from core.store.workspace import Workspace

_NOT_NPZ = "Give it with a folder, .zip or file of images, sound or texts."


def data_params(
    workspace: Workspace, model: Mapping[str, Any], model_path: Path, data: Path | None, request: Request
) -> dict[str, Any]:
    """Puts the data into the workspace; the job's parameters that name it.

    Args:
        workspace: where.
        model: the job's parameters that name the model.
        model_path: beside it a tokenizer.json may lie.
        data: an NPZ, another source, or None for synthetic inputs.
        request: how other sources become arrays.

    Raises:
        DataError: the source is none, or `--preprocessing` and the like were given without one.
    """
    from core.intake.members import kind_of

    if data is None or kind_of(data) == "npz":
        _refuse_unused(request)
        stored = None if data is None else workspace.files.put(data, suffix=".npz")
        return {"data": stored, "data_name": None if data is None else data.stem}
    params = {**model, **request.params(), **_source_params(model_path, data, request)}
    document = work.run_job(workspace, "convert", params, title=f"Read {data.name}")
    for remark in document["remarks"]:
        answer.note(remark)
    return {"data": document["data"], "data_name": document["name"]}


def _source_params(model_path: Path, data: Path, request: Request) -> dict[str, Any]:
    from core.intake.convert import tokenizer_beside

    tokenizer = request.tokenizer or tokenizer_beside(model_path, data)
    if tokenizer is not None and not tokenizer.is_file():
        raise NotFoundError(f"There is no tokenizer file '{tokenizer}'.")
    return {
        "source_path": str(data.resolve()),
        "source_name": data.resolve().name,
        "preprocessing": None if request.preprocessing is None else _read_preprocessing(request.preprocessing),
        "tokenizer_path": None if tokenizer is None else str(tokenizer.resolve()),
        "limit": request.limit,
    }


def _read_preprocessing(path: Path) -> dict[str, Any]:
    """The declared preprocessing, checked before any work begins."""
    from core.intake.preprocessing import declared

    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise NotFoundError(f"There is no preprocessing file '{path}'.") from error
    except OSError as error:
        raise DataError(f"The preprocessing '{path}' cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"'{path}' is not JSON: {error}.", hint="See docs/data.md for an example.") from error
    return declared(document).to_dict()


def _refuse_unused(request: Request) -> None:
    given = {
        "--preprocessing": request.preprocessing,
        "--tokenizer": request.tokenizer,
        "--limit": request.limit,
    }
    for option, value in given.items():
        if value is not None:
            message = f"{option} has nothing to work on: the data is neither images, sound nor text."
            raise DataError(message, hint=_NOT_NPZ)
