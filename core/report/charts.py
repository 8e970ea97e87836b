"""Charts of the HTML report: inline SVG from rows, coloured by CSS classes so that light and dark need no second copy.

Every text that comes from a model is escaped. Shapes carry titles, which browsers show on hovering and screen readers
read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from core.report import quantities
from core.report.names import shorten

_WIDTH = 1000
#: Segments narrower than this, in units of the drawing, are drawn together.
_LEAST_PX = 1.2
_LABEL_LENGTH = 36


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a bar: its length in the unit of the bar, its CSS class and what it says when pointed at."""

    length: float
    style: str
    title: str


def time_bars(bars: Sequence[tuple[str, Sequence[Segment]]]) -> list[tuple[str, Markup]]:
    """Bars of one scale and one unit, each with what to write over it: the shorter one is the faster one.

    Args:
        bars: name and segments of each, whose lengths are milliseconds; empty without times.
    """
    sums = [sum(segment.length for segment in segments) for _, segments in bars]
    longest = max(sums, default=0.0)
    if longest <= 0:
        return []
    drawn = []
    for (name, segments), whole in zip(bars, quantities.times_ms(*sums), strict=True):
        rectangles = _bar(segments, _WIDTH / longest)
        drawn.append(
            (f"{name} · {whole}", _svg(rectangles, height=1, name=f"{name}: {whole}", style="bar", stretch=True))
        )
    return drawn


def _bar(segments: Sequence[Segment], scale: float) -> list[Markup]:
    """Rectangles from left to right; what would be too narrow to see joins its neighbour of the same class."""
    drawn: list[Markup] = []
    left = 0.0
    waiting: list[Segment] = []
    for segment in segments:
        if waiting and waiting[-1].style != segment.style:
            left += _flush(drawn, waiting, left, scale)
        waiting.append(segment)
        if sum(part.length for part in waiting) * scale >= _LEAST_PX:
            left += _flush(drawn, waiting, left, scale)
    _flush(drawn, waiting, left, scale)
    return drawn


def _flush(drawn: list[Markup], waiting: list[Segment], left: float, scale: float) -> float:
    """Draws what waits as one rectangle and returns its width."""
    width = sum(segment.length for segment in waiting) * scale
    if waiting and width > 0:
        title = waiting[0].title if len(waiting) == 1 else f"{waiting[0].title} and {len(waiting) - 1} more"
        gap = 0.8 if width > 3 else 0.0
        drawn.append(
            Markup('<rect x="{}" y="0" width="{}" height="1" class="{}"><title>{}</title></rect>').format(
                _n(left), _n(max(width - gap, 0.3)), waiting[0].style, title
            )
        )
    waiting.clear()
    return width


@dataclass(frozen=True, slots=True)
class Spread:
    """A ratio with its interval as percentages of a logarithmic track with 1 in its middle: right of it is better."""

    low: str
    width: str
    value: str
    style: str
    title: str


def spread(value: float, ci95: Sequence[float] | None, verdict: str = "") -> Spread | None:
    """Where a ratio and its interval lie on their track, in the colour of its verdict; None at or below 0."""
    low, high = ci95 or (value, value)
    if min(value, low, high) <= 0:
        return None
    reach = max(abs(math.log2(end)) for end in (value, low, high, 2.0)) * 1.12
    at_low, at, at_high = (50 + 50 * math.log2(end) / reach for end in (low, value, high))
    style = verdict if verdict in {"better", "worse"} else "even"
    told = (
        f"{quantities.ratio(value)}, 95 % interval {quantities.ratio_range([low, high])}"
        if ci95
        else quantities.ratio(value)
    )
    return Spread(_n(at_low), _n(max(at_high - at_low, 0.6)), _n(at), style, told)


def front(points: Sequence[Mapping[str, Any]], *, chosen_bytes: int | None, required_db: float | None) -> Markup:
    """Mixes by latency and fidelity; above and left is better. Empty where fewer than two were timed."""
    timed = [point for point in points if point.get("latency_ms") and point.get("sqnr_db") is not None]
    if len(timed) < 2:
        return Markup("")
    width, height, left, bottom = 620, 300, 52, 40
    times = [float(point["latency_ms"]) for point in timed]
    decibels = [float(point["sqnr_db"]) for point in timed] + ([] if required_db is None else [required_db])
    across = _scale(min(times), max(times), left + 12, width - 16)
    upward = _scale(min(decibels), max(decibels), height - bottom - 10, 18)
    parts = [*_axes(across, upward, times, decibels, (width, height, left, bottom))]
    if required_db is not None:
        parts.append(
            Markup('<line x1="{}" x2="{}" y1="{}" y2="{}" class="target"/>').format(
                left, width, _n(upward(required_db)), _n(upward(required_db))
            )
        )
        parts.append(_text(width - 4, upward(required_db) - 5, "target", "tick end"))
    for point in timed:
        chosen = chosen_bytes is not None and point.get("bytes") == chosen_bytes and point.get("accepted")
        style = "chosen" if chosen else "kept" if point.get("accepted") else "missed"
        said = "kept the target" if point.get("accepted") else "missed the target"
        title = (
            f"{quantities.time_ms(point['latency_ms'])}, {quantities.with_unit(point['sqnr_db'], 'dB')}, "
            f"{quantities.size(point.get('bytes'))}, {quantities.counted(point['groups'], 'group')} lowered, {said}"
        )
        parts.append(
            Markup('<circle cx="{}" cy="{}" r="{}" class="{}"><title>{}</title></circle>').format(
                _n(across(float(point["latency_ms"]))),
                _n(upward(float(point["sqnr_db"]))),
                7 if chosen else 4.5,
                style,
                title,
            )
        )
    return _svg(parts, width=width, height=height, name="Mixes that were timed, by latency and fidelity", style="plot")


def _axes(
    across: Any, upward: Any, times: Sequence[float], decibels: Sequence[float], frame: tuple[int, int, int, int]
) -> list[Markup]:
    width, height, left, bottom = frame
    base = height - bottom
    parts = [
        Markup('<line x1="{0}" y1="10" x2="{0}" y2="{1}" class="axis"/>').format(left, base),
        Markup('<line x1="{0}" y1="{1}" x2="{2}" y2="{1}" class="axis"/>').format(left, base, width),
        _text(width - 4, height - 4, "quick latency (ms)", "tick end"),
        _text(left, 8, "SQNR (dB)", "tick"),
    ]
    parts += [_text(across(value), base + 16, quantities.three(value), "tick middle") for value in _ends(times)]
    parts += [_text(left - 6, upward(value) + 4, quantities.three(value), "tick end") for value in _ends(decibels)]
    return parts


def _ends(values: Sequence[float]) -> list[float]:
    low, high = min(values), max(values)
    return [low] if math.isclose(low, high) else [low, (low + high) / 2, high]


def _scale(low: float, high: float, start: float, end: float) -> Any:
    reach = high - low or 1.0
    return lambda value: start + (value - low) / reach * (end - start)


def bars(rows: Sequence[tuple[str, float, str]], *, unit: str) -> Markup:
    """Horizontal bars with their labels: label, value, CSS class."""
    if not rows:
        return Markup("")
    top_value = max(value for _, value, _ in rows) or 1.0
    height, left, right = 22, 250, 560
    parts = []
    for number, (label, value, style) in enumerate(rows):
        y = number * height + 2
        length = max(0.0, value / top_value) * (right - left)
        shown = shorten(label, _LABEL_LENGTH)
        parts.append(
            Markup('<text x="{}" y="{}" class="tick end">{}<title>{}</title></text>').format(
                left - 8, y + 13, shown, label
            )
        )
        parts.append(
            Markup('<rect x="{}" y="{}" width="{}" height="15" class="{}"/>').format(
                left, y, _n(max(length, 0.5)), style
            )
        )
        parts.append(_text(left + length + 6, y + 12, quantities.with_unit(value, unit), "tick"))
    return _svg(parts, width=620, height=len(rows) * height + 4, name="Sensitivity of single groups", style="plot")


def _text(x: float, y: float, text: str, style: str) -> Markup:
    return Markup('<text x="{}" y="{}" class="{}">{}</text>').format(_n(x), _n(y), style, text)


def _svg(
    parts: Sequence[Markup], *, height: float, name: str, style: str, width: float = _WIDTH, stretch: bool = False
) -> Markup:
    aspect = Markup(' preserveAspectRatio="none"') if stretch else ""
    return Markup('<svg viewBox="0 0 {} {}" class="{}" role="img" aria-label="{}"{}>{}</svg>').format(
        _n(width), _n(height), style, name, aspect, Markup("").join(parts)
    )


def _n(value: float) -> str:
    """A coordinate, as short as it can be."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
