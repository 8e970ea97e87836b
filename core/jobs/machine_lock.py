"""One timed job at a time on a machine: a file lock that all Mixdesk processes of a user share.

The lock goes with the process that holds it, however that process ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from pathlib import Path

from filelock import FileLock, Timeout

from core.errors import RequestError
from core.store.rows import new_id


class MachineLock:
    """Taken without waiting; says who holds it.

    Args:
        path: default MIXDESK_MACHINE_LOCK, else a file in the temporary folder, one per user.

    Raises:
        RequestError: the lock file cannot be made.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or _default_path()
        self._note = self._path.with_suffix(".holder")
        self._lock = FileLock(self._path, thread_local=False)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.touch()
        except OSError as e:
            raise RequestError(
                f"The lock file {self._path} cannot be used ({e.strerror}).",
                hint="Name another with MIXDESK_MACHINE_LOCK.",
            ) from e

    def take(self, what: str) -> bool:
        """Takes the lock for `what`, a title that waiting jobs show; False where another holds it."""
        try:
            self._lock.acquire(blocking=False)
        except Timeout:
            return False
        with contextlib.suppress(OSError):  # the note only serves a sentence
            temporary = self._note.with_suffix(f".{new_id()}")
            temporary.write_text(json.dumps({"pid": os.getpid(), "what": what}), encoding="utf-8")
            temporary.replace(self._note)
        return True

    def give_back(self) -> None:
        """Lets the next one have it; nothing happens where it is not held."""
        self._lock.release()

    def holder(self) -> str:
        """Who holds it, for a sentence: "'Profile digits-cnn' (process 123)"."""
        found = self._read()
        return "another Mixdesk process" if found is None else f"'{found[1]}' (process {found[0]})"

    def holder_pid(self) -> int | None:
        """The process that holds it; None where that is not known."""
        found = self._read()
        return None if found is None else found[0]

    def _read(self) -> tuple[int, str] | None:
        try:
            note = json.loads(self._note.read_text(encoding="utf-8"))
            return int(note["pid"]), str(note["what"])
        except (OSError, ValueError, KeyError, TypeError):
            return None


def _default_path() -> Path:
    named = os.environ.get("MIXDESK_MACHINE_LOCK")
    if named:
        return Path(named)
    user = os.getuid() if hasattr(os, "getuid") else 0
    return Path(tempfile.gettempdir()) / f"mixdesk-{user}.lock"
