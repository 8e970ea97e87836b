"""Part: a share of a longer progress, so that a stage may count its own work from 0 to 1 inside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.progress import Progress


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
