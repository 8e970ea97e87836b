"""A stage's own 0..1 becomes its share of the whole."""

from __future__ import annotations

import pytest

from core.progress import Part
from tests.tasks.recording import Recording


def test_phases_are_squeezed_into_the_share() -> None:
    whole = Recording()
    part = Part(whole, start=0.2, end=0.6)
    part.phase("first", start=0.0, end=0.5)
    part.phase("second", start=0.5, end=1.0)
    assert [name for name, _, _ in whole.phases] == ["first", "second"]
    assert [place for _, *places in whole.phases for place in places] == pytest.approx([0.2, 0.4, 0.4, 0.6])


def test_parts_nest() -> None:
    whole = Recording()
    Part(Part(whole, start=0.5, end=1.0), start=0.5, end=1.0).phase("end", start=0.0, end=2.0)
    assert whole.phases == [("end", 0.75, 1.0)]


def test_steps_and_partials_pass_as_they_are() -> None:
    whole = Recording()
    part = Part(whole, start=0.2, end=0.6)
    part.step(1, 3, "conv1")
    part.partial("solo", {"group": "conv1"})
    assert (whole.steps, whole.partials) == ([(1, 3, "conv1")], [("solo", {"group": "conv1"})])
