"""Chips: colours for small labels in tables, on which the text that the table picks can be read.

The table writes black on a colour whose relative luminance is above one half and white on every other, so that colours
in between (orange, sky blue) would carry white text of weak contrast. They are shifted, as little as it takes.
"""

from __future__ import annotations

from dashboard.figures.theme import heat_color

#: WCAG AA for small text.
CONTRAST = 4.5
_BLACK_ABOVE = 0.5
_STEPS = 100


def chip_color(color: str) -> str:
    """The nearest colour ("#RRGGBB"), lighter or darker, on which the table's text has a contrast of 4.5."""
    for step in range(_STEPS + 1):
        for end in ("#FFFFFF", "#000000"):
            shifted = heat_color(((0.0, color), (1.0, end)), step / _STEPS)
            if _readable(shifted):
                return shifted
    return color


def luminance(color: str) -> float:
    """Relative luminance as WCAG defines it, 0 (black) to 1 (white)."""
    red, green, blue = (_linear(int(color[start : start + 2], 16) / 255) for start in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _readable(color: str) -> bool:
    light = luminance(color)
    return light > _BLACK_ABOVE or 1.05 / (light + 0.05) >= CONTRAST


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else float(((channel + 0.055) / 1.055) ** 2.4)
