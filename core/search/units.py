"""What the units of a search depend on, and how its values are kept: calibrated ranges, read-back, comparisons."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from core.measure.compare import Comparison
from core.measure.kept import comparison_from_json, comparison_to_json
from core.store.units import Codec
from core.transform.affine import Range
from core.transform.build import ReadBack
from core.transform.calibrate import Ranges
from core.transform.candidate import LayerOutcome

Json = Mapping[str, Any]


def _write_ranges(ranges: Ranges) -> dict[str, Any]:
    by_key = {key: [_number(one.low), _number(one.high)] for key, one in ranges.by_key.items()}
    return {"by_key": by_key, "samples": ranges.samples, "synthetic": ranges.synthetic}


def _read_ranges(stored: Json) -> Ranges:
    by_key = {key: Range(float(low), float(high)) for key, (low, high) in stored["by_key"].items()}
    return Ranges(by_key, int(stored["samples"]), bool(stored["synthetic"]))


def _number(value: float) -> float | str:
    """JSON has no infinity."""
    return value if math.isfinite(value) else str(value)


def _write_read_back(found: ReadBack) -> dict[str, Any]:
    return {"outcomes": [outcome.to_dict() for outcome in found.outcomes], "conversions": found.conversions}


def _read_read_back(stored: Json) -> ReadBack:
    outcomes = tuple(LayerOutcome(layer=row.pop("id"), **row) for row in map(dict, stored["outcomes"]))
    return ReadBack(outcomes, int(stored["conversions"]))


RANGES: Codec[Ranges] = Codec(_write_ranges, _read_ranges)
READ_BACK: Codec[ReadBack] = Codec(_write_read_back, _read_read_back)
COMPARISON: Codec[Comparison] = Codec(comparison_to_json, comparison_from_json)
MILLISECONDS: Codec[float] = Codec(lambda ms: {"ms": ms}, lambda stored: float(stored["ms"]))


def is_worth_keeping(compared: Comparison) -> bool:
    """A comparison that a busy machine has spoilt is measured again by whoever asks next."""
    return compared.latency.trustworthy
