"""Chips: whatever ink the table picks, it can be read, and precisions still have colours of their own."""

from __future__ import annotations

import pytest

from dashboard.chips import CONTRAST, chip_color, luminance
from dashboard.figures.theme import DARK, LIGHT, PRECISION_COLORS

COLORS = [*PRECISION_COLORS.values(), LIGHT.line, DARK.line]


@pytest.mark.parametrize("color", COLORS)
def test_the_ink_that_the_table_picks_can_be_read(color: str) -> None:
    light = luminance(chip_color(color))
    contrast = (light + 0.05) / 0.05 if light > 0.5 else 1.05 / (light + 0.05)
    assert contrast >= CONTRAST


def test_a_colour_that_can_be_read_stays_as_it_is() -> None:
    assert chip_color("#0072B2") == "#0072B2"
    assert chip_color("#FFFFFF") == "#FFFFFF"


def test_the_chip_of_int8_is_light_and_carries_dark_ink() -> None:
    assert luminance(chip_color(PRECISION_COLORS["int8"])) > 0.5


def test_every_precision_keeps_a_colour_of_its_own() -> None:
    assert len({chip_color(color) for color in PRECISION_COLORS.values()}) == len(PRECISION_COLORS)
