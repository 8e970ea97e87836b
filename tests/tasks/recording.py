"""A progress that remembers what was reported to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Recording:
    """Keeps every report in order."""

    def __init__(self) -> None:
        self.phases: list[tuple[str, float, float]] = []
        self.steps: list[tuple[int, int, str]] = []
        self.partials: list[tuple[str, dict[str, Any]]] = []

    def phase(self, name: str, *, start: float, end: float) -> None:
        self.phases.append((name, start, end))

    def step(self, done: int, total: int, what: str = "") -> None:
        self.steps.append((done, total, what))

    def partial(self, kind: str, value: Mapping[str, Any]) -> None:
        self.partials.append((kind, dict(value)))
