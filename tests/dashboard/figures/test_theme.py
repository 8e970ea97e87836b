"""Colours: the scale is even, texts on it can be read, every precision has colour and letter."""

from __future__ import annotations

import pytest

from core.recipe.precision import Precision
from dashboard.figures.theme import (
    DARK,
    LIGHT,
    PRECISION_COLORS,
    PRECISION_LETTERS,
    FigureTheme,
    figure_theme,
    heat_color,
    ink_on,
    precision_label,
)


def luminance(color: str) -> float:
    channels = [int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_every_precision_has_its_own_colour_and_letter() -> None:
    names = {str(precision) for precision in Precision}
    assert set(PRECISION_COLORS) == names == set(PRECISION_LETTERS)
    assert len(set(PRECISION_COLORS.values())) == len(names) == len(set(PRECISION_LETTERS.values()))
    assert precision_label("int8") == "I int8"


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.kind)
def test_more_heat_always_stands_out_more_from_the_page(theme: FigureTheme) -> None:
    steps = [contrast(heat_color(theme.heat, step / 20), theme.surface) for step in range(21)]
    assert steps == sorted(steps)
    assert steps[-1] > 7


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.kind)
def test_texts_on_every_colour_can_be_read(theme: FigureTheme) -> None:
    colors = [heat_color(theme.heat, step / 20) for step in range(21)] + list(PRECISION_COLORS.values())
    assert min(contrast(color, ink_on(color)) for color in colors) >= 4.5


def test_the_scale_ends_at_its_ends_and_holds_beyond_them() -> None:
    assert heat_color(LIGHT.heat, 0) == LIGHT.heat[0][1] == heat_color(LIGHT.heat, -1)
    assert heat_color(LIGHT.heat, 1) == LIGHT.heat[-1][1] == heat_color(LIGHT.heat, 9)


def test_an_unknown_theme_is_light() -> None:
    assert figure_theme(None) is LIGHT
    assert figure_theme("dark") is DARK
