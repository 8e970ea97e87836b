"""How numbers are written, on pages and in the terminal: three significant digits and a unit; unknown is said so."""

from __future__ import annotations

import math
from collections.abc import Sequence

#: Written where a document has null: not measured, not readable or not applicable.
NOT_KNOWN = "not known"

_THOUSANDS = ("", "k", "M", "G", "T", "P")
_BYTES = ("B", "KB", "MB", "GB", "TB")


def three(value: float | None) -> str:
    """Three significant digits: 1.84, 31.0, 118, 12300."""
    if value is None or not math.isfinite(value):
        return NOT_KNOWN
    if value == 0:
        return "0"
    digits = 2 - math.floor(math.log10(abs(value)))
    rounded = round(value, digits)
    digits = 2 - math.floor(math.log10(abs(rounded)))
    return f"{rounded:.{max(0, min(digits, 12))}f}"


def with_unit(value: float | None, unit: str) -> str:
    """The number and its unit, or "not known"."""
    return NOT_KNOWN if value is None or not math.isfinite(value) else f"{three(value)} {unit}"


def time_ms(value: float | None) -> str:
    """A time given in milliseconds, written in µs, ms or s."""
    if value is None or not math.isfinite(value):
        return NOT_KNOWN
    if value != 0 and abs(value) < 0.1:
        return with_unit(value * 1000, "µs")
    return with_unit(value, "ms") if abs(value) < 10_000 else with_unit(value / 1000, "s")


def times_ms(*values: float | None) -> tuple[str, ...]:
    """Times in milliseconds that stand side by side, all in one unit: ("59.5 µs", "120 µs")."""
    known = [abs(value) for value in values if value and math.isfinite(value)]
    if not known:
        return tuple(time_ms(value) for value in values)
    unit, factor = ("µs", 1000.0) if min(known) < 0.1 and max(known) < 10 else ("ms", 1.0)
    if min(known) >= 10_000:
        unit, factor = "s", 0.001
    return tuple(with_unit(None if value is None else value * factor, unit) for value in values)


def duration_s(seconds: float | None) -> str:
    """How long something takes or took: "12 s", "4 min", "2.5 h"."""
    if seconds is None or not math.isfinite(seconds):
        return NOT_KNOWN
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def time_range(interval: Sequence[float] | None) -> str:
    """An interval of times in milliseconds, both ends in one unit: "2.61–2.67 ms"."""
    if interval is None or len(interval) != 2 or not all(math.isfinite(end) for end in interval):
        return NOT_KNOWN
    unit, factor = ("µs", 1000.0) if 0 < max(abs(end) for end in interval) < 0.1 else ("ms", 1.0)
    if min(abs(end) for end in interval) >= 10_000:
        unit, factor = "s", 0.001
    return f"{three(interval[0] * factor)}–{three(interval[1] * factor)} {unit}"


def size(value: float | None) -> str:
    """Bytes, in decimal steps: "11.2 MB"."""
    return _scaled(value, 1000, _BYTES)


def count(value: float | None, unit: str = "") -> str:
    """A count with a prefix: "118 MMAC", "2.80 M", "640"."""
    if value is None or not math.isfinite(value):
        return NOT_KNOWN
    if abs(value) < 1000:
        whole = f"{value:.0f}" if float(value).is_integer() else three(value)
        return f"{whole} {unit}".strip()
    step = min(int(math.log10(abs(value)) // 3), len(_THOUSANDS) - 1)
    if abs(float(three(value / 1000**step))) >= 1000 and step + 1 < len(_THOUSANDS):
        step += 1
    return f"{three(value / 1000**step)} {_THOUSANDS[step]}{unit}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number of things: "1 layer", "3 layers", "2 mixes" (with its own plural)."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def share(value: float | None) -> str:
    """A fraction of one as percent: 0.31 is "31.0 %"."""
    return NOT_KNOWN if value is None or not math.isfinite(value) else f"{three(value * 100)} %"


def ratio(value: float | None) -> str:
    """How many times: "2.84x"."""
    return NOT_KNOWN if value is None or not math.isfinite(value) else f"{three(value)}x"


def ratio_range(interval: Sequence[float] | None) -> str:
    """An interval of ratios: "2.79–2.88x"."""
    if interval is None or len(interval) != 2 or not all(math.isfinite(end) for end in interval):
        return NOT_KNOWN
    return f"{three(interval[0])}–{three(interval[1])}x"


def points(value: float | None) -> str:
    """A difference of two fractions in percentage points, signed: "-0.42 points"."""
    if value is None or not math.isfinite(value):
        return NOT_KNOWN
    return f"{'+' if value > 0 else ''}{three(value * 100)} points"


def shape(dims: Sequence[int | str] | None) -> str:
    """A tensor's shape: "1x64x56x56"; a scalar is "scalar"."""
    if dims is None:
        return NOT_KNOWN
    return "x".join(str(dim) for dim in dims) if len(dims) else "scalar"


def _scaled(value: float | None, base: int, units: Sequence[str]) -> str:
    if value is None or not math.isfinite(value):
        return NOT_KNOWN
    scaled, step = float(value), 0
    while abs(scaled) >= base and step + 1 < len(units):
        scaled, step = scaled / base, step + 1
    if abs(float(three(scaled))) >= base and step + 1 < len(units):
        scaled, step = scaled / base, step + 1
    return f"{scaled:.0f} B" if step == 0 else f"{three(scaled)} {units[step]}"
