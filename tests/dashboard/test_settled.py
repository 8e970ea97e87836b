"""Settled: the collector does not look again at what lasts, and what died in a ring of references goes in the end."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from dashboard import settled
from dashboard.settled import settle


class Ring:
    """Refers to itself, so that only the collector can free it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    yield
    gc.unfreeze()


def test_what_lasts_is_not_looked_at_again() -> None:
    lasting = [[number] for number in range(1_000)]
    settle()
    assert gc.get_freeze_count() > len(lasting)
    assert len(gc.get_objects()) < 1_000
    assert lasting


def test_a_dead_ring_goes_with_a_thorough_round() -> None:
    settle()
    ring = Ring()
    gone = weakref.ref(ring)
    settle()
    del ring
    for _ in range(settled._THOROUGH_EVERY):
        settle()
    assert gone() is None
