"""Alone: a program of this package in a process of its own, which may die, hang or eat memory and harms nobody.

The program writes notes, one JSON object per line: what it is about to do. Whoever watches learns from the last note
what the process was at when it ended, or when it had to be ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Literal, Self

import psutil

import core

Note = Mapping[str, Any]
How = Literal["done", "failed", "died", "time", "memory"]

_LOOK_EVERY_S = 0.1
_CHUNK = 1 << 16
#: A process that has not begun after so many seconds more is not waited for.
_START_S = 20.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a process may take: seconds from one note to the next, in all from its first note, and resident memory."""

    step_s: float | None = None
    total_s: float | None = None
    memory_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Ending:
    """How a process ended, and its last note before that.

    `failed` is an error that the program told itself (`answer`), as `done` is its result. `died` by `signal_number`, or
    with an exit status where that is None. `time` and `memory`: it was ended because it took more than its bounds.
    `last_s` are the seconds from its last note to its end.
    """

    how: How
    note: Note | None
    answer: Mapping[str, Any]
    last_s: float
    signal_number: int | None = None

    @property
    def cause(self) -> str:
        """What ended a process that died, in words: "SIGFPE"; "an exit"."""
        return "an exit" if self.signal_number is None else signal.Signals(self.signal_number).name


class Alone:
    """A running program: `python -m MODULE FOLDER`. Use it as a context manager: it never outlives its block."""

    def __init__(self, module: str, folder: Path) -> None:
        root = str(Path(core.__file__).resolve().parent.parent)
        paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
        self._rest = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def watch(self, bounds: Bounds, *, on_wait: Callable[[Note | None], None] | None = None) -> Ending:
        """Waits for the end and ends the process itself where it exceeds its bounds.

        Args:
            bounds: what it may take.
            on_wait: is called some times a second with the last note; what it raises ends the wait.
        """
        note: Note | None = None
        since = time.monotonic()
        began = since + _START_S  # if it never gets as far as a note
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while True:
                read = os.read(self._process.stdout.fileno(), _CHUNK) if selector.select(_LOOK_EVERY_S) else None
                if read == b"":
                    return self._ended(note, time.monotonic() - since)
                told = self._last_line(read) if read else None
                if told is not None:
                    since = time.monotonic()
                    began = since if note is None else began
                    note = json.loads(told)
                    if "done" in note or "error" in note:
                        return Ending("done" if "done" in note else "failed", note, dict(note), 0.0)
                if on_wait is not None:
                    on_wait(note)
                over = self._over(bounds, since, began)
                if over is not None:
                    return Ending(over, note, {}, time.monotonic() - since)

    def _last_line(self, read: bytes) -> bytes | None:
        *lines, self._rest = (self._rest + read).split(b"\n")
        return lines[-1] if lines else None

    def _over(self, bounds: Bounds, since: float, began: float) -> Literal["time", "memory"] | None:
        now = time.monotonic()
        if bounds.step_s is not None and now - since > bounds.step_s:
            return "time"
        if bounds.total_s is not None and now - began > bounds.total_s:
            return "time"
        if bounds.memory_bytes is not None and _resident_bytes(self._process.pid) > bounds.memory_bytes:
            return "memory"
        return None

    def _ended(self, note: Note | None, last_s: float) -> Ending:
        code = self._process.wait()
        return Ending("died", note, {}, last_s, signal_number=-code if code < 0 else None)


def limit_memory(memory_bytes: int | None, weights: Path | None = None) -> None:
    """Lets this process have no more: the runtime then fails with the name of a layer, and nobody is killed.

    Files in the folder `weights` come on top: the runtime maps them in a way that the system counts as memory.
    """
    if memory_bytes is None or sys.platform == "win32":
        return
    import resource  # noqa: PLC0415 - not on every system

    mapped = sum(path.stat().st_size for path in weights.iterdir() if path.is_file()) if weights is not None else 0
    with contextlib.suppress(ValueError):  # a lower limit holds already
        resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes + mapped, memory_bytes + mapped))


def take_standard_output() -> IO[str]:
    """A private handle for notes; whatever else prints goes to standard error."""
    handle = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return handle


def write_note(notes: IO[str], value: Note) -> None:
    """Writes one note at once."""
    notes.write(json.dumps(value) + "\n")
    notes.flush()


def _resident_bytes(pid: int) -> int:
    """Without mapped files, which can always be let go."""
    try:
        memory = psutil.Process(pid).memory_info()
    except psutil.Error:
        return 0
    return int(memory.rss - getattr(memory, "shared", 0))
