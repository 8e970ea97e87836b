"""Exports: files that other programs read, written in one step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from core.errors import RequestError, WorkError
from core.store.atomic import written_whole


def write_json(path: str | Path, value: Any) -> Path:
    """Writes a value as JSON; an existing file is replaced.

    Raises:
        RequestError: the name does not end in .json, or there is no such folder.
        WorkError: the file cannot be written.
    """
    return write_text(path, json.dumps(value), ending=".json")


def write_text(path: str | Path, text: str, *, ending: str) -> Path:
    """Writes a text in UTF-8; an existing file is replaced.

    Raises:
        RequestError: the name ends otherwise, or there is no such folder.
        WorkError: the file cannot be written.
    """
    out = Path(path).expanduser()
    if out.suffix.lower() != ending:
        raise RequestError(f"'{out.name}' does not end in {ending}.", hint=f"Name it {out.stem}{ending}.")
    if not out.parent.is_dir():
        raise RequestError(f"There is no folder '{out.parent}' to write '{out.name}' in.", hint="Create it first.")
    try:
        with written_whole(out) as file:
            file.write(text.encode())
    except OSError as error:
        raise WorkError(f"'{out}' cannot be written: {error.strerror or error}.") from error
    return out
