"""Units: finished pieces of long work, kept under the content they depend on, so that none is done twice.

The key of a unit is the SHA-256 of all that its value depends on. Work that was killed or stopped asks for its units
again in the same order: what is stored comes back at once, with the seconds it took (`spent_s` on the wall, `worked_s`
of the processor), so that decisions by time spent fall as they did. A stored value that is damaged counts as missing.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from core.store.strict_json import plain, to_json

T = TypeVar("T")
Json = Mapping[str, Any]

_SHOWN_DIGITS = 12


class Cache(Protocol):
    """Where units are kept: a workspace."""

    def cache_get(self, key: str) -> dict[str, Any] | None:
        """What was kept under `key`, or None."""

    def cache_put(self, key: str, value: Mapping[str, Any], *, model: str | None = None) -> None:
        """Keeps a JSON object; it goes when the model goes."""


@dataclass(frozen=True, slots=True)
class Codec(Generic[T]):
    """How a value becomes JSON and is made again; `read` may raise ValueError, KeyError or TypeError on damage."""

    write: Callable[[T], Json]
    read: Callable[[Json], T]


class Units:
    """The units of one piece of work.

    Args:
        cache: where they are kept; None keeps nothing.
        holds: what all of them depend on (hashes, seed, settings, versions, machine); shown in the document.
        model: hash of the model they belong to.
        clock: monotonic seconds.
        processor: seconds that this process has worked, which other processes do not lengthen.
    """

    def __init__(
        self,
        cache: Cache | None,
        holds: Json,
        *,
        model: str | None = None,
        clock: Callable[[], float] = time.monotonic,
        processor: Callable[[], float] = time.process_time,
    ) -> None:
        self._cache = cache
        self._model = model
        self._clock, self._processor = clock, processor
        self.holds: dict[str, Any] = plain(holds)
        self.key = _digest(self.holds)[:_SHOWN_DIGITS]
        self.computed = 0
        self.reused = 0
        self.spent_s = self.worked_s = 0.0

    @classmethod
    def unkept(cls) -> Units:
        """Units that are computed whenever they are asked for: for scripts and tests."""
        return cls(None, {})

    def get_or(
        self,
        kind: str,
        key: Json,
        compute: Callable[[], T],
        *,
        codec: Codec[T],
        before: Callable[[], object] | None = None,
        keep: Callable[[T], bool] = lambda value: True,
    ) -> T:
        """The stored value of a unit, else what `compute` gives, which is then stored.

        Args:
            kind: what sort of unit.
            key: what tells it from others of its kind.
            compute: does the work.
            codec: between value and JSON.
            before: is called before `compute` and outside its time, where the value is not stored.
            keep: whether a computed value is worth keeping.
        """
        place = self._place(kind, key)
        stored = self._stored(place, codec)
        if stored is not None:
            value, seconds, worked = stored
            self.reused += 1
            self.spent_s += seconds
            self.worked_s += worked
            return value
        if before is not None:
            before()
        start, start_worked = self._clock(), self._processor()
        value = compute()
        seconds, worked = max(0.0, self._clock() - start), max(0.0, self._processor() - start_worked)
        self.computed += 1
        self.spent_s += seconds
        self.worked_s += worked
        if self._cache is not None and keep(value):
            written = plain(codec.write(value))
            row = {"value": written, "seconds": seconds, "worked": worked, "check": _digest(written)}
            self._cache.cache_put(place, row, model=self._model)
        return value

    def to_dict(self) -> dict[str, Any]:
        """The `units` object of documents: the shown key, what it holds, and how many were computed and reused."""
        return {"key": self.key, "holds": self.holds, "computed": self.computed, "reused": self.reused}

    def _place(self, kind: str, key: Json) -> str:
        return f"unit/{self._model or '-'}/{kind}/{_digest({'holds': self.holds, 'kind': kind, 'key': plain(key)})}"

    def _stored(self, place: str, codec: Codec[T]) -> tuple[T, float, float] | None:
        """Value, seconds and seconds worked, or None where nothing is stored, or nothing sound."""
        if self._cache is None:
            return None
        try:
            row = self._cache.cache_get(place)
            if row is None or row["check"] != _digest(row["value"]):
                return None
            return codec.read(row["value"]), float(row["seconds"]), float(row["worked"])
        except (ValueError, KeyError, TypeError, IndexError, AttributeError):
            return None


def _digest(value: Any) -> str:
    """The SHA-256 of a JSON value; the order of an object's keys does not count."""
    return hashlib.sha256(to_json(_ordered(value)).encode()).hexdigest()


def _ordered(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _ordered(value[key]) for key in sorted(value)}
    if isinstance(value, list | tuple):
        return [_ordered(item) for item in value]
    return value


def as_is() -> Codec[dict[str, Any]]:
    """The codec of values that are JSON objects already."""
    return Codec(write=dict, read=dict)
