"""Display: a job's progress on standard error; a live bar in a terminal, now and then a plain line elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from core.store.rows import JobRow

_LINE_EVERY_S = 10.0


class JobDisplay:
    """Shows one job while it runs. `clock` returns seconds."""

    def __init__(self, title: str, *, live: bool | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._title = title
        self._live = sys.stderr.isatty() if live is None else live
        self._clock = clock
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._last_part = ""
        self._last_line_s = clock()

    def __enter__(self) -> Self:
        if self._live:
            self._bar, self._task = _open_bar(self._title)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, row: JobRow) -> None:
        """Brings the display up to date with the job's row."""
        what = _describe(row)
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=row.fraction or 0.0, description=what)
            return
        now = self._clock()
        part = row.phase or row.what
        if part and (part != self._last_part or now - self._last_line_s >= _LINE_EVERY_S):
            percent = "" if row.fraction is None else f" ({row.fraction:.0%})"
            print(f"{self._title}: {what}{percent}", file=sys.stderr, flush=True)
            self._last_part = part
            self._last_line_s = now


def _describe(row: JobRow) -> str:
    if row.state == "queued":
        return row.what or "waits for its turn"
    parts = (row.phase, row.what)
    return ": ".join(part for part in parts if part) or row.state


def _open_bar(title: str) -> tuple[Progress, TaskID]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True, highlight=False),
        transient=True,
    )
    task = bar.add_task(title, total=1.0)
    bar.start()
    return bar, task
