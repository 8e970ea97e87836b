"""The desk of one call: an open workspace, and jobs on it that run in child processes while somebody watches."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from core.errors import RequestError
from core.store.rows import JobRow
from core.store.workspace import Workspace
from core.tasks import running

#: True: lines on standard error; False: nothing; a function: gets the job's row (fraction, phase, what, eta_s).
Watch = bool | Callable[[JobRow], None]
Place = str | Path | Workspace | None

_LINE_EVERY_S = 10.0


@dataclass(frozen=True)
class Desk:
    """A workspace, and who watches its jobs."""

    workspace: Workspace
    watch: Watch

    def run(self, kind: str, params: Mapping[str, Any], *, title: str) -> dict[str, Any]:
        """Runs one job in a child process and returns its document.

        Raises:
            MixdeskError: what the job said went wrong, or how it ended (a crash ends the child, not us).
            KeyboardInterrupt: Ctrl-C; the job is stopped by then.
        """
        watcher = Lines(title, sys.stderr).show if self.watch is True else self.watch or None
        return running.run_job(self.workspace, kind, params, title=title, on_change=watcher)


@contextmanager
def open_desk(place: Place, watch: Watch = True) -> Iterator[Desk]:
    """Opens a workspace for one call; one that was given open stays open.

    Args:
        place: its folder, or None for the workspace of the command line: MIXDESK_WORKSPACE, else the user's.
        watch: who is told how far the jobs are.

    Raises:
        RequestError: `watch` is neither yes or no nor a function.
    """
    if not (isinstance(watch, bool) or callable(watch)):
        raise RequestError(f"progress= cannot be {watch!r}.", hint="Give True, False or a function of the job's row.")
    if isinstance(place, Workspace):
        yield Desk(place, watch)
        return
    with Workspace.open(None if place is None else Path(place)) as workspace:
        yield Desk(workspace, watch)


class Lines:
    """Tells a job's progress in lines: one for each part of the work, and one now and then. `clock` gives seconds."""

    def __init__(self, title: str, stream: TextIO, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._title = title
        self._stream = stream
        self._clock = clock
        self._last = ""
        self._last_s = clock()

    def show(self, row: JobRow) -> None:
        """Writes a line if there is something new to say."""
        part = row.phase or row.what
        if not part or row.is_final or (part == self._last and self._clock() - self._last_s < _LINE_EVERY_S):
            return
        what = ": ".join(text for text in (row.phase, row.what) if text)
        far = "" if row.fraction is None else f" ({row.fraction:.0%})"
        self._stream.write(f"{self._title}: {what}{far}\n")
        self._stream.flush()
        self._last, self._last_s = part, self._clock()
