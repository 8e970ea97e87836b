"""Preview: a few samples as people see them and as the model does, made in a short-lived process of their own.

Pictures, sounds and archives come from strangers: what reads them here cannot harm the server, may take bounded time
and memory, and leaves nothing behind. Nothing is stored.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import core
from core.errors import CrashedError, DataError, MixdeskError, ModelError, NotFoundError, RequestError

#: Reading a few samples takes a second or two; what takes longer is not worth waiting for.
LONGEST_S = 60.0
COUNT = 8
_ERRORS: dict[str, type[MixdeskError]] = {
    error.kind: error for error in (RequestError, ModelError, DataError, NotFoundError)
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be previewed. `preprocessing` None: a proposal; `name` is what the source is called."""

    model: Path
    source: Path
    name: str
    tokenizer: Path | None = None
    preprocessing: Mapping[str, Any] | None = None
    count: int = COUNT

    def to_json(self) -> str:
        """As it is handed to the child."""
        return json.dumps(
            {
                "model": str(self.model),
                "source": str(self.source),
                "name": self.name,
                "tokenizer": None if self.tokenizer is None else str(self.tokenizer),
                "preprocessing": None if self.preprocessing is None else dict(self.preprocessing),
                "count": self.count,
            }
        )


def preview_samples(wanted: Wanted, *, timeout_s: float = LONGEST_S) -> dict[str, Any]:
    """The preprocessing (the given one, or a proposal) and the first samples under it.

    Returns:
        `preprocessing`, and `samples`: each with `name`, `label`, `thumbnail` (base64 of a PNG, or null), `text`,
        `shape`, `minimum`, `mean`, `maximum` and `note` (why it cannot be read, or null).

    Raises:
        DataError: the preprocessing does not fit, the source cannot be read, or it took too long.
        CrashedError: the process died.
    """
    with tempfile.TemporaryDirectory(prefix="mixdesk-") as folder:
        answer = _ask(wanted, Path(folder) / "answer.json", timeout_s)
    if "error" in answer:
        told = answer["error"]
        raise _ERRORS.get(str(told["kind"]), DataError)(told["message"], hint=told["hint"])
    return answer


def _ask(wanted: Wanted, out: Path, timeout_s: float) -> dict[str, Any]:
    """What the child wrote to the file `out`."""
    command = [sys.executable, "-P", "-m", "core.tasks.preview_child", str(out)]
    root = Path(core.__file__).resolve().parent.parent
    try:
        subprocess.run(
            command, input=wanted.to_json(), capture_output=True, text=True, timeout=timeout_s, cwd=root, check=False
        )
    except subprocess.TimeoutExpired as error:
        message = f"A preview of '{wanted.name}' took longer than {timeout_s:g} s."
        raise DataError(message, hint="Give fewer or smaller files.") from error
    try:
        answer: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError) as error:
        message = f"The process that read '{wanted.name}' died."
        hint = "It may have run out of memory: give smaller files, or convert the data yourself into an .npz."
        raise CrashedError(message, hint=hint) from error
    return answer
