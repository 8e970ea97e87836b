"""Culprit: the layer during which a model crashes the runtime, runs without end, or takes more memory than it may.

The model is run again in a process of its own, step by step (`core.runtime.steps`), and the last step that was told
before the end is to blame. At most `_MOST_STEPS` steps are made; where a model has more layers, a second pass takes
the step that failed apart. Inside a container that failed, its body is stepped through in the same way. A model that
fails only as a whole (by a kernel that the runtime fused) has no culprit here, nor has one that is slow all over.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import UnavailableError
from core.measure.alone import Alone, Bounds, Ending, How
from core.measure.child import write_feeds, write_spec
from core.runtime.settings import SessionSettings
from core.runtime.steps import Cut
from core.runtime.tags import CONTAINERS, TaggedModel
from core.runtime.told import Place, place_of

Feed = Mapping[str, np.ndarray[Any, np.dtype[Any]]]

#: No longer is searched than this.
MOST_SECONDS = 20.0
_MOST_STEPS = 250
#: A layer is said to have no end if it takes this share of the time that the search has.
_LONG = 0.5
_NO_LIMIT = -1
#: How a pass may end to have seen what the case saw: too much memory also shows as a failure or, badly, as a crash.
_ALIKE: Mapping[How, frozenset[How]] = {
    "died": frozenset({"died", "memory"}),
    "failed": frozenset({"failed"}),
    "time": frozenset({"time"}),
    "memory": frozenset({"memory", "failed", "died"}),
}


@dataclass(frozen=True, slots=True)
class Culprit:
    """The layer to blame.

    `rounds`: of a Loop or Scan, how many it was told to do (-1: nothing limits them). `round`: in which round of the
    loop around it (from 0) it failed. `reason`: what the runtime said, where it said anything.
    """

    place: Place
    rounds: int | None = None
    round: int | None = None
    reason: str | None = None

    def __str__(self) -> str:
        """For a sentence: "'a/b' (Div) in round 7"."""
        told = f"'{self.place.layer}' ({self.place.op_type}{_told_rounds(self.rounds)})"
        return told if self.round is None else f"{told} in round {self.round + 1:,}"


@dataclass(frozen=True, slots=True)
class Case:
    """What failed: a tagged model, the feed it failed on, the settings, and how the process ended."""

    tagged: TaggedModel
    feed: Feed
    settings: SessionSettings
    how: How


def find_culprit(
    case: Case,
    *,
    memory_bytes: int | None = None,
    most_s: float = MOST_SECONDS,
    on_wait: Callable[[], None] | None = None,
) -> Culprit | None:
    """Searches for the layer to blame, for at most `most_s` seconds.

    Args:
        case: what failed.
        memory_bytes: what one run may take.
        most_s: seconds; half of them for a pass that looks for a layer without end.
        on_wait: is called some times a second; what it raises ends the search.
    """
    search = _Search(case, memory_bytes, time.monotonic() + most_s, on_wait or (lambda: None))
    count = sum(1 for node in case.tagged.model.graph if node.op_type != "Constant")
    cut = Cut(size=max(1, math.ceil(count / _MOST_STEPS)))
    found = search.step_through(cut)
    if found is not None and found.first != found.last:
        cut = replace(cut, single_from=found.first, single_to=found.last + 1)
        found = search.step_through(cut)
    if found is None or found.first != found.last:
        return None
    return _culprit(search.go_inside(found, cut), case)


def tells_of_memory(message: str) -> bool:
    """Whether the runtime's sentence says that there was not enough memory."""
    return any(words in message for words in ("Failed to allocate", "bad_alloc", "out of memory"))


@dataclass(frozen=True, slots=True)
class _Found:
    """The step during which it ended, as told by the child."""

    first: int
    last: int
    name: str
    inside: tuple[str, ...]
    round: int | None
    rounds: int | None
    reason: str | None


class _Search:
    """Passes through the model, each in a fresh process, until the time is over."""

    def __init__(self, case: Case, memory_bytes: int | None, end_s: float, on_wait: Callable[[], None]) -> None:
        self._case = case
        self._memory_bytes = memory_bytes
        self._end_s = end_s
        self._on_wait = on_wait

    def step_through(self, cut: Cut) -> _Found | None:
        """One pass; None where it does not end as the case did, or ends at no step."""
        left = self._end_s - time.monotonic()
        seconds = left * _LONG if self._case.how == "time" else left
        if seconds <= 0:
            return None
        with tempfile.TemporaryDirectory(prefix="mixdesk-") as folder:
            path, case = Path(folder), self._case
            write_feeds(path / "feeds.npz", [case.feed])
            more = {"cut": asdict(cut), "memory_bytes": self._memory_bytes}
            write_spec(path, case.tagged.serialize(), path / "feeds.npz", case.settings, units=1, **more)
            bounds = Bounds(total_s=seconds, memory_bytes=self._memory_bytes)
            with Alone("core.measure.culprit_child", path) as program:
                ending = program.watch(bounds, on_wait=lambda _: self._on_wait())
        return self._blamed(ending, seconds)

    def go_inside(self, found: _Found, cut: Cut) -> _Found:
        """The layer in the bodies of a container, as deep as it can be told."""
        if self._case.how == "time" or not self._is_container(found.name):
            return found
        path = (*found.inside, found.name)
        inner = self.step_through(replace(cut, enter=path))
        return found if inner is None or inner.inside != path else self.go_inside(inner, cut)

    def _is_container(self, name: str) -> bool:
        place = place_of(name, self._case.tagged)
        return place is not None and place.op_type in CONTAINERS

    def _blamed(self, ending: Ending, seconds: float) -> _Found | None:
        step, error = (ending.note or {}).get("step"), ending.answer.get("error") or {}
        if step is None or ending.how not in _ALIKE[self._case.how] or error.get("kind") == UnavailableError.kind:
            return None
        if ending.how == "failed" and self._case.how == "memory" and not tells_of_memory(str(error.get("message"))):
            return None
        if ending.how == "time" and ending.last_s < _LONG * seconds:
            return None
        return _Found(
            first=step["first"],
            last=step["last"],
            name=step["names"][0],
            inside=tuple(step["inside"]),
            round=step["round"],
            rounds=step["rounds"],
            reason=error.get("message"),
        )


def _culprit(found: _Found, case: Case) -> Culprit | None:
    place = place_of(found.name, case.tagged)
    return None if place is None else Culprit(place, found.rounds, found.round, found.reason)


def _told_rounds(rounds: int | None) -> str:
    if rounds is None:
        return ""
    return ", told to go on without a limit of rounds" if rounds == _NO_LIMIT else f", told to do {rounds:,} rounds"
