"""Targets: what a candidate must keep, as text, and whether the measurements meet it.

    accuracy>=99%     relative to the original on the same samples
    accuracy>=0.97    absolute
    agreement>=99%    share of samples with the same top answer
    sqnr>=30          in dB, the worst output
    latency<=5ms  size<=10MB  speedup>=2x

Several are joined by commas; all must be met. `value` is the point estimate on the holdout samples. `bound` is the
one-sided 95 % bound; from 300 samples on it must meet the target as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from core.errors import TargetError, did_you_mean
from core.measure.accuracy import Accuracy
from core.measure.fidelity import Fidelity
from core.measure.intervals import upper_share
from core.measure.latency import PairedLatency

#: What is kept where the user names no target.
WITH_LABELS, WITHOUT_LABELS, WITHOUT_FLOATS = "accuracy>=99%", "sqnr>=25", "agreement>=99%"

#: From so many samples on, the bound must meet the target too.
BOUND_SAMPLES = 300

#: Metrics that only timing tells.
TIMED = ("latency", "speedup")

Direction = Literal[">=", "<="]

_CONDITION = re.compile(r"^\s*([A-Za-z_-]+)\s*(>=|=>|≥|<=|=<|≤|==|=|>|<)\s*([0-9]*\.?[0-9]+)\s*([A-Za-zµ%]*)\s*$")
_SIGNS: dict[str, Direction] = {">=": ">=", "=>": ">=", "≥": ">=", "<=": "<=", "=<": "<=", "≤": "<="}
_EXAMPLES = "A target reads like 'accuracy>=99%', 'sqnr>=30', 'latency<=5ms' or several of them with commas."

#: Metric -> direction, and unit -> factor ("" is a bare number).
_METRICS: dict[str, tuple[Direction, dict[str, float]]] = {
    "accuracy": (">=", {"%": 0.01, "": 1.0}),
    "agreement": (">=", {"%": 0.01, "": 1.0}),
    "sqnr": (">=", {"": 1.0, "db": 1.0}),
    "latency": ("<=", {"us": 1e-3, "µs": 1e-3, "ms": 1.0, "": 1.0, "s": 1e3}),
    "size": ("<=", {"b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 2**10, "mib": 2**20, "gib": 2**30}),
    "speedup": (">=", {"x": 1.0, "": 1.0}),
}


@dataclass(frozen=True, slots=True)
class Condition:
    """One part of a target: `metric direction limit`. `relative`: the limit is a share of the original's figure."""

    text: str
    metric: str
    direction: Direction
    limit: float
    relative: bool = False

    def holds(self, value: float, required: float) -> bool:
        """Whether a figure meets what is required."""
        return value >= required - 1e-12 if self.direction == ">=" else value <= required + 1e-12


@dataclass(frozen=True, slots=True)
class Judgement:
    """A condition against the measurements; `why` says in words why there is no value, or why it is not met."""

    condition: Condition
    required: float | None
    value: float | None
    bound: float | None
    met: bool
    samples: int
    why: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The `target` object of the documents, for one condition."""
        return {
            "text": self.condition.text,
            "metric": self.condition.metric,
            "required": self.required,
            "value": self.value,
            "bound": self.bound,
            "met": self.met,
            "samples": self.samples,
            "why": self.why,
        }


@dataclass(frozen=True, slots=True)
class TargetVerdict:
    """All conditions of a target, judged; `met` where all are."""

    text: str
    judgements: tuple[Judgement, ...]

    @property
    def met(self) -> bool:
        """Whether every condition is met."""
        return all(judgement.met for judgement in self.judgements)

    @property
    def broken(self) -> tuple[str, ...]:
        """The conditions that are not met, as text."""
        return tuple(judgement.condition.text for judgement in self.judgements if not judgement.met)

    def to_dict(self) -> dict[str, Any]:
        """The `target` object: the figures of the first condition that is not met, else of the first; all in `each`."""
        ruling = next((judgement for judgement in self.judgements if not judgement.met), self.judgements[0])
        each = [judgement.to_dict() for judgement in self.judgements]
        return {**ruling.to_dict(), "text": self.text, "met": self.met, "each": each}


@dataclass(frozen=True, slots=True)
class Target:
    """What must be kept."""

    text: str
    conditions: tuple[Condition, ...]

    @property
    def metrics(self) -> tuple[str, ...]:
        """What must be measured to judge it."""
        return tuple(dict.fromkeys(condition.metric for condition in self.conditions))

    def judge(
        self,
        *,
        fidelity: Fidelity | None = None,
        accuracy: Accuracy | None = None,
        latency: PairedLatency | None = None,
        size_bytes: int | None = None,
        seed: int = 0,
    ) -> TargetVerdict:
        """Judges measurements on the holdout samples; a condition that nothing was measured for is not met.

        Raises:
            TargetError: an accuracy or agreement that this data and model cannot give; the hint says what can be asked.
        """
        evidence = _Evidence(fidelity, accuracy, latency, size_bytes, seed)
        return TargetVerdict(self.text, tuple(_judge(condition, evidence) for condition in self.conditions))


def parse_target(text: str) -> Target:
    """Reads a target.

    Raises:
        TargetError: it cannot be read, or asks for what makes no sense; the hint shows how it reads.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise TargetError("The target is empty.", hint=_EXAMPLES)
    conditions = tuple(_parse(part) for part in parts)
    return Target(", ".join(condition.text for condition in conditions), conditions)


def _parse(part: str) -> Condition:
    found = _CONDITION.match(part)
    if found is None:
        raise TargetError(f"The target '{part}' cannot be read.", hint=_EXAMPLES)
    name, sign, number, unit = found.groups()
    metric = name.lower().replace("speed-up", "speedup").replace("speed_up", "speedup")
    if metric not in _METRICS:
        message = f"'{name}' is no metric of a target.{did_you_mean(metric, _METRICS)}"
        raise TargetError(message, hint=f"Metrics: {', '.join(_METRICS)}.")
    direction, units = _METRICS[metric]
    if _SIGNS.get(sign) != direction:
        message = f"The target '{part}' must say {metric}{direction}, not {metric}{sign}."
        raise TargetError(message, hint=_EXAMPLES)
    if unit.lower() not in units:
        known = ", ".join(name or "no unit" for name in units)
        raise TargetError(f"The target '{part}' has the unit '{unit or 'none'}'.", hint=f"For {metric}: {known}.")
    limit = float(number) * units[unit.lower()]
    _check_share(part, metric, number, unit, limit)
    text = f"{metric}{direction}{number}{unit}"
    return Condition(text, metric, direction, limit, relative=metric == "accuracy" and unit == "%")


def _check_share(part: str, metric: str, number: str, unit: str, limit: float) -> None:
    if metric not in ("accuracy", "agreement") or limit <= 1:
        return
    hint = f"Shares are at most 1: {metric}>={number}% ?" if not unit else "At most 100 %."
    raise TargetError(f"The target '{part}' asks for more than everything.", hint=hint)


@dataclass(frozen=True, slots=True)
class _Evidence:
    fidelity: Fidelity | None
    accuracy: Accuracy | None
    latency: PairedLatency | None
    size_bytes: int | None
    seed: int


@dataclass(frozen=True, slots=True)
class _Figure:
    value: float | None
    bound: float | None
    samples: int
    required: float
    why: str | None = None


def _judge(condition: Condition, evidence: _Evidence) -> Judgement:
    figure = _READERS[condition.metric](condition, evidence)
    if figure is None:
        missing = f"{condition.metric} was not measured"
        return Judgement(condition, None, None, None, met=False, samples=0, why=missing)
    if figure.value is None:
        return Judgement(condition, figure.required, None, None, met=False, samples=figure.samples, why=figure.why)
    met = condition.holds(figure.value, figure.required)
    why: str | None = None
    if met and figure.bound is not None and figure.samples >= BOUND_SAMPLES:
        met = condition.holds(figure.bound, figure.required)
        why = None if met else "the estimate meets it, but its 95 % bound does not"
    return Judgement(condition, figure.required, figure.value, figure.bound, met=met, samples=figure.samples, why=why)


def _read_accuracy(condition: Condition, evidence: _Evidence) -> _Figure | None:
    measured = evidence.accuracy
    if measured is None:
        return None
    if measured.before is None or measured.after is None:
        message = f"The target '{condition.text}' needs an accuracy, but {measured.why}."
        raise TargetError(message, hint="Give labels as 'y' in the data, or ask for agreement>=99% or sqnr>=30.")
    required = condition.limit * measured.before if condition.relative else condition.limit
    return _Figure(measured.after, measured.lower_bound, measured.samples, required)


def _read_agreement(condition: Condition, evidence: _Evidence) -> _Figure | None:
    measured = evidence.fidelity
    if measured is None:
        return None
    if measured.agreement is None or measured.disagreements is None:
        message = f"The target '{condition.text}' needs outputs that choose a class, and this model has none."
        raise TargetError(message, hint="Ask for sqnr>=30 instead.")
    bound = 1 - upper_share(measured.disagreements, measured.samples)
    return _Figure(measured.agreement, bound, measured.samples, condition.limit)


def _read_sqnr(condition: Condition, evidence: _Evidence) -> _Figure | None:
    measured = evidence.fidelity
    if measured is None:
        return None
    if measured.sqnr_db is None and not measured.broken:
        message = f"The target '{condition.text}' needs floating-point outputs, and this model has none."
        raise TargetError(message, hint="Ask for agreement>=99% instead.")
    bound = measured.sqnr_bound_db(seed=evidence.seed)
    return _Figure(measured.sqnr_db, bound, measured.samples, condition.limit, measured.why)


def _read_latency(condition: Condition, evidence: _Evidence) -> _Figure | None:
    measured = evidence.latency
    if measured is None:
        return None
    return _Figure(measured.after_ms, measured.after_bound_ms, measured.samples, condition.limit)


def _read_speedup(condition: Condition, evidence: _Evidence) -> _Figure | None:
    measured = evidence.latency
    if measured is None:
        return None
    return _Figure(measured.ratio, measured.ratio_bound, measured.samples, condition.limit)


def _read_size(condition: Condition, evidence: _Evidence) -> _Figure | None:
    size = evidence.size_bytes
    return None if size is None else _Figure(float(size), float(size), 1, condition.limit)


_READERS: dict[str, Callable[[Condition, _Evidence], _Figure | None]] = {
    "accuracy": _read_accuracy,
    "agreement": _read_agreement,
    "sqnr": _read_sqnr,
    "latency": _read_latency,
    "speedup": _read_speedup,
    "size": _read_size,
}
