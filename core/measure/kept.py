"""Comparisons as JSON and back, to the last digit: so that a finished one need not be measured again.

The gate is left out: it is judged anew from the figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from core.measure.accuracy import Accuracy
from core.measure.compare import Comparison
from core.measure.fidelity import Fidelity, OutputFidelity
from core.measure.intervals import Interval
from core.measure.latency import PairedLatency
from core.runtime.conditions import Conditions

Json = Mapping[str, Any]

_ARRAYS = {"signal": np.float64, "noise": np.float64, "agrees": np.bool_}


def comparison_to_json(compared: Comparison) -> dict[str, Any]:
    """What `comparison_from_json` reads."""
    fidelity = {name: value for name, value in _shallow(compared.fidelity).items() if name != "outputs"}
    return {
        "latency": asdict(compared.latency),
        "before_bytes": compared.before_bytes,
        "after_bytes": compared.after_bytes,
        "fidelity": fidelity,
        "outputs": [_output_to_json(output) for output in compared.fidelity.outputs],
        "accuracy": asdict(compared.accuracy),
        "verdict": compared.verdict,
        "why": compared.why,
        "conditions": asdict(compared.conditions),
    }


def comparison_from_json(stored: Json) -> Comparison:
    """The comparison as it was.

    Raises:
        KeyError, TypeError, ValueError: the JSON is not that of a comparison.
    """
    outputs = tuple(_output_from_json(output) for output in stored["outputs"])
    return Comparison(
        latency=PairedLatency(**_intervals(stored["latency"], "ci95", "noise_ci95")),
        before_bytes=int(stored["before_bytes"]),
        after_bytes=int(stored["after_bytes"]),
        fidelity=Fidelity(**stored["fidelity"], outputs=outputs),
        accuracy=Accuracy(**_intervals(stored["accuracy"], "ci95_change")),
        gate=None,
        verdict=stored["verdict"],
        why=stored["why"],
        conditions=Conditions(**{**stored["conditions"], "features": tuple(stored["conditions"]["features"])}),
    )


def _shallow(value: Fidelity | OutputFidelity) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _output_to_json(output: OutputFidelity) -> dict[str, Any]:
    return {name: value.tolist() if name in _ARRAYS else value for name, value in _shallow(output).items()}


def _output_from_json(stored: Json) -> OutputFidelity:
    arrays: dict[str, Any] = {name: np.array(stored[name], dtype) for name, dtype in _ARRAYS.items()}
    return OutputFidelity(**{**stored, **arrays})


def _intervals(stored: Json, *names: str) -> dict[str, Any]:
    return {**stored, **{name: _interval(stored[name]) for name in names}}


def _interval(value: Any) -> Interval | None:
    if value is None:
        return None
    low, high = value
    return (float(low), float(high))
