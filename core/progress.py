"""How long work tells what it does, and learns that it should stop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Progress(Protocol):
    """What a task reports to while it runs.

    `phase` opens a named part of the work with its share of the whole (0..1); `step` says how far that part is;
    `partial` publishes a result that is already known and will be shown at once. Each may raise `StoppedError`.
    """

    def phase(self, name: str, *, start: float, end: float) -> None:
        """Opens a part of the work that covers `start`..`end` of the whole (fractions of 1)."""

    def step(self, done: int, total: int, what: str = "") -> None:
        """Says that `done` of `total` units of this phase are finished; `what` names the current one."""

    def partial(self, kind: str, value: Mapping[str, Any]) -> None:
        """Publishes one finished piece (JSON-able)."""


class Silent:
    """A progress that goes nowhere: for scripts and tests."""

    def phase(self, name: str, *, start: float, end: float) -> None:
        """Ignored."""

    def step(self, done: int, total: int, what: str = "") -> None:
        """Ignored."""

    def partial(self, kind: str, value: Mapping[str, Any]) -> None:
        """Ignored."""


class Part:
    """Passes a stage's reports on, squeezed into `start`..`end` of the whole."""

    def __init__(self, whole: Progress, *, start: float, end: float) -> None:
        self._whole = whole
        self._start = start
        self._width = end - start

    def phase(self, name: str, *, start: float, end: float) -> None:
        """Opens a part of this part."""
        self._whole.phase(name, start=self._place(start), end=self._place(end))

    def step(self, done: int, total: int, what: str = "") -> None:
        """Passed on as it is: steps count within their phase."""
        self._whole.step(done, total, what)

    def partial(self, kind: str, value: Mapping[str, Any]) -> None:
        """Passed on as it is."""
        self._whole.partial(kind, value)

    def _place(self, fraction: float) -> float:
        return self._start + self._width * min(max(fraction, 0.0), 1.0)
