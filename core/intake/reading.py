"""Reading: what the readers of images, sound and texts have in common; a sample is named, labelled and read alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.intake.feeds import Array
from core.intake.preprocessing import Preprocessing


@dataclass(frozen=True, slots=True)
class Item:
    """One sample before it is read: its name for people, its label as text, its file and its place in there."""

    name: str
    label: str
    file: str
    place: int = 0


@dataclass(frozen=True, slots=True)
class Shown:
    """A sample as people see it: a small PNG, a text, or both."""

    thumbnail: bytes | None = None
    text: str | None = None


class Reader(Protocol):
    """Samples of one kind for one model.

    `remarks` grow while reading. `begin` is told which samples were chosen before `feed` reads them in that order.
    """

    remarks: list[str]

    @property
    def items(self) -> Sequence[Item]:
        """All samples, before a choice."""

    @property
    def how(self) -> Preprocessing:
        """The preprocessing, with the input it feeds named."""

    def begin(self, chosen: Sequence[Item]) -> None:
        """Looks at all chosen samples together (the longest text sets the length)."""

    def feed(self, item: Item) -> Mapping[str, Array]:
        """What one sample feeds; DataError says why it cannot be read."""

    def show(self, item: Item) -> Shown:
        """The same sample for people."""
