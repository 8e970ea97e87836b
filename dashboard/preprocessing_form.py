"""Preprocessing in words and fields: value ranges by name, numbers as people write them, and one line that tells it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from core.errors import DataError
from core.intake.preprocessing import Preprocessing

Values = Mapping[str, Any]

CUSTOM = "own numbers"
#: Name -> (scale, mean, std): value = (pixel x scale - mean) / std, a pixel is 0..255.
RANGES: Mapping[str, tuple[float, tuple[float, ...], tuple[float, ...]]] = {
    "0 to 1": (1 / 255, (0.0,), (1.0,)),
    "-1 to 1": (1.0, (127.5,), (127.5,)),
    "(pixel - 127) / 128": (1.0, (127.0,), (128.0,)),
    "ImageNet mean and deviation": (1 / 255, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    "MNIST mean and deviation": (1 / 255, (0.1307,), (0.3081,)),
    "0 to 255, as stored": (1.0, (0.0,), (1.0,)),
}
#: What settings are called on the page.
WORDS: Mapping[str, str] = {
    "shorter-side": "shorter side",
    "longer-side": "longer, pad",
    "stretch": "stretch",
    "none": "none",
    "center": "middle",
    "folder": "name of the folder",
    "csv": "a table (.csv) in the archive",
    "prefix": "start of the file name",
    "column": "a column of the table",
    "file": "name of the file",
    "mono": "mix to one",
    "keep": "keep all",
    "longest": "to the longest text",
    "max_length": "always to the most",
    "grey": "grey",
}
_TOLERANCE = 1e-6


def range_of(given: Values) -> str:
    """The name of the value range that scale, mean and std make; `CUSTOM` where it has none."""
    scale, mean, std = float(given["scale"]), tuple(given["mean"]), tuple(given["std"])
    for name, known in RANGES.items():
        if _same((scale,), known[:1]) and _same(mean, known[1]) and _same(std, known[2]):
            return name
    # the same line written otherwise: (pixel x s - m) / d has slope s / d and offset -m / d
    for name, known in RANGES.items():
        if _same(_line(scale, mean, std), _line(*known)):
            return name
    return CUSTOM


def ranges_for(colour: str) -> list[str]:
    """Names of the value ranges that fit the colours: one with three means is none for grey."""
    channels = 1 if colour == "grey" else 3
    return [name for name, (_, mean, _) in RANGES.items() if len(mean) in (1, channels)]


def with_range(given: Values, name: str) -> dict[str, Any]:
    """The preprocessing with the numbers of a named value range."""
    scale, mean, std = RANGES[name]
    return {**given, "scale": scale, "mean": list(mean), "std": list(std)}


def numbers(text: str, what: str) -> list[float]:
    """Numbers as people write them: "0.485, 0.456, 0.406", "127", "1/255".

    Raises:
        DataError: one is no number; says of what.
    """
    parts = [part for part in text.replace(";", ",").replace("[", " ").replace("]", " ").split(",") if part.strip()]
    try:
        found = [float(Fraction(part.strip())) if "/" in part else float(part) for part in parts]
    except (ValueError, ZeroDivisionError) as error:
        raise DataError(f"'{text}' is no number for {what}.", hint="Write one number, or one per colour.") from error
    if not found:
        raise DataError(f"There is no number for {what}.", hint="Write one number, or one per colour.")
    return found


def as_text(values: Sequence[float]) -> str:
    """Numbers as a field shows them: "0.485, 0.456, 0.406"."""
    return ", ".join(f"{value:.8g}" for value in values)


def told(given: Values) -> str:
    """A preprocessing in one line, for reading."""
    kind = given.get("kind")
    if kind == "images":
        height, width = given["size"]
        ways = [_resize(given), "middle cut out" if given.get("crop") == "center" else ""]
        values = range_of(given)
        how = f"values {values}" if values != CUSTOM else _formula(given)
        words = [f"{height}x{width}", *ways, how, str(given["colour"]), str(given["layout"])]
    elif kind == "audio":
        hop = f", every {given['hop']}" if given.get("hop") else ""
        words = [f"{given['rate']} Hz", f"windows of {given['window']} samples{hop}", str(given["channels"])]
    else:
        padding = str(given["padding"])
        words = [f"at most {given['max_length']} tokens", f"padded {WORDS.get(padding, padding)}"]
    labels = str(given.get("labels", "none"))
    return ", ".join([*(word for word in words if word), f"labels: {WORDS.get(labels, labels)}"])


def read_file(content: bytes) -> dict[str, Any]:
    """A preprocessing that was saved as JSON.

    Raises:
        DataError: it is none, or one that cannot be.
    """
    try:
        given = json.loads(content)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise DataError("This file is not JSON.", hint="Give a preprocessing that was saved here.") from error
    if isinstance(given, Mapping):
        given = {name: value for name, value in given.items() if name != "remarks"}
    return Preprocessing.from_dict(given).to_dict()


def settings_of(given: Values) -> dict[str, Any]:
    """What declares the preprocessing, without what was remarked when it was used."""
    return {name: value for name, value in given.items() if name != "remarks"}


def _resize(given: Values) -> str:
    way = str(given["resize"])
    if way == "shorter-side":
        return f"shorter side to {given['resize_to']}" if given.get("resize_to") else "shorter side to fit"
    return {"longer-side": "longer side to fit, padded", "stretch": "stretched"}.get(way, "not resized")


def _formula(given: Values) -> str:
    scale = float(given["scale"])
    pixel = "pixel" if scale == 1 else f"pixel x {scale:.6g}"
    return f"values ({pixel} - {as_text(given['mean'])}) / {as_text(given['std'])}"


def _line(scale: float, mean: Sequence[float], std: Sequence[float]) -> tuple[float, ...]:
    """Slopes and offsets per channel, three of each, in units of a whole pixel range."""
    spread = [tuple(values) * (3 if len(values) == 1 else 1) for values in (mean, std)]
    lines = [(255 * scale / each, -offset / each) for offset, each in zip(*spread, strict=False)]
    return tuple(value for line in lines for value in line)


def _same(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return len(one) == len(other) and all(
        abs(float(a) - float(b)) <= _TOLERANCE * max(1.0, abs(float(b))) for a, b in zip(one, other, strict=True)
    )
