"""Effort: what a search can afford, from a cost that is the same whenever the same model is searched again.

Two measurements of one model differ, and a search that counts its samples by them would go another way each time. So
costs are computed from the layers:

    ms of a layer = MACs / 40e6 + activation bytes / 20e6 + weight bytes / 40e6 + 0.001      (one thread of AVX2)

which meets the measured time of most models within a factor of two. Where the measurement says that it is off by more
than 2.4, it is corrected in steps of six: close calls are then rare, and everything that follows is settled by counts.
The clock remains as the last resort.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from core.graph.layer import Layer, LayerTable

_MACS_PER_MS, _WIDE = 40e6, 1.8
_ACTIVATION_BYTES_PER_MS, _WEIGHT_BYTES_PER_MS, _LAYER_MS = 20e6, 40e6, 1e-3
_STEP = 6.0
_THREAD_GAIN = 0.7

#: Multiply-accumulates per output element below which a kernel is bound by memory (depthwise convolutions).
_FEW_PER_OUTPUT = 26
_GAIN, _LITTLE_GAIN = 0.4, 0.04

#: A model is built and opened: milliseconds, per layer and per byte of weights.
_OPEN_MS, _OPEN_LAYER_MS, _OPEN_BYTES_PER_MS = 30.0, 0.8, 0.2e6

_PROBE_SHARE, _JUDGE_SHARE, _GROWTH_SHARE, _TIMING_SHARE = 0.35, 0.4, 0.1, 0.12
_FEWEST_PROBES, _MOST_PROBES = 2, 16
_FEWEST_JUDGES, _MOST_JUDGES = 8, 200
_FEWEST_FINALISTS, _MOST_FINALISTS, _ROUNDS = 3, 6, 8
_EXPECTED_EVALUATIONS = 40
#: Plans are made for costs that turn out this much higher.
_CAUTION = 1.5
_FINAL_RUNS, _FINAL_MS = 60, 3000.0


@dataclass(frozen=True, slots=True)
class Effort:
    """Counts of what is tried.

    `judges` samples accept a mix, `probes` samples score one group, `solos` groups are scored alone, `growths` groups
    are tried on top of a mix, `finalists` mixes are timed side by side.
    """

    judges: int
    probes: int
    solos: int
    growths: int
    finalists: int


def planned_run_ms(table: LayerTable, *, threads: int, wide: bool) -> float:
    """The cost of one run by the layers alone; `wide`: the processor has AVX-512."""
    speed = (_WIDE if wide else 1.0) * (1 + _THREAD_GAIN * (threads - 1))
    return sum(_layer_ms(layer, speed) for layer in table)


def settled_run_ms(planned_ms: float, measured_ms: float) -> float:
    """The planned cost, in steps of six nearer to the measured one."""
    if planned_ms <= 0 or measured_ms <= 0:
        return max(planned_ms, measured_ms, 1e-3)
    return planned_ms * _STEP ** round(math.log(measured_ms / planned_ms, _STEP))


def planned_gains(table: LayerTable) -> dict[str, float]:
    """Group -> milliseconds that int8 promises by the layers alone: a share of the time of its arithmetic."""
    gains: dict[str, float] = {}
    for layer in table:
        if layer.macs:
            outputs = max(1.0, (layer.activation_bytes or 0) / 4)
            share = _GAIN if layer.macs / outputs >= _FEW_PER_OUTPUT else _LITTLE_GAIN
            gains[layer.group] = gains.get(layer.group, 0.0) + share * layer.macs / _MACS_PER_MS
        elif layer.macs is None:
            gains[layer.group] = gains.get(layer.group, 0.0) + _GAIN * layer.parameters / _MACS_PER_MS
    return gains


def plan_effort(table: LayerTable, groups: Sequence[str], *, run_ms: float, budget_s: float) -> Effort:
    """What a search of these groups affords in its time.

    Args:
        table: the layers, for the cost of building a mix.
        groups: that may be lowered.
        run_ms: settled cost of one run.
        budget_s: of the search.
    """
    budget_ms, run = budget_s * 1e3 / _CAUTION, max(run_ms, 1e-3)
    build_ms = _OPEN_MS + _OPEN_LAYER_MS * len(table) + sum(one.weight_bytes for one in table) / _OPEN_BYTES_PER_MS
    count = max(1, len(groups))
    judges = _within((budget_ms * _JUDGE_SHARE / _EXPECTED_EVALUATIONS - build_ms) / run, _FEWEST_JUDGES, _MOST_JUDGES)
    solo_ms = budget_ms * _PROBE_SHARE
    probes = _within((solo_ms / count - build_ms) / run - 2, _FEWEST_PROBES, _MOST_PROBES)
    visits = budget_ms * _TIMING_SHARE / run / _ROUNDS
    return Effort(
        judges=judges,
        probes=probes,
        solos=_within(solo_ms / (build_ms + probes * run), min(4, count), count),
        growths=_within(budget_ms * _GROWTH_SHARE / (build_ms + judges * run), 0, count),
        finalists=_within(visits - 1, _FEWEST_FINALISTS, _MOST_FINALISTS),
    )


def final_s(holdout: int, run_ms: float) -> float:
    """Seconds that the last comparison and both profiles need beside their own budget: all holdout samples, twice."""
    return (run_ms * (2 * holdout + _FINAL_RUNS) + _FINAL_MS) / 1e3


def _layer_ms(layer: Layer, speed: float) -> float:
    macs = layer.parameters if layer.macs is None else layer.macs
    moved = (layer.activation_bytes or 0) / _ACTIVATION_BYTES_PER_MS + layer.weight_bytes / _WEIGHT_BYTES_PER_MS
    return macs / _MACS_PER_MS / speed + moved + _LAYER_MS


def _within(value: float, least: int, most: int) -> int:
    return max(least, min(most, int(value)))
