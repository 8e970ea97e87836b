"""Tiles: before and after of one candidate, metric by metric, read from a `build`, `optimize` or `compare` document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from core.report import quantities
from core.report.shortfall import shortfall

Verdict = Literal["better", "no difference seen", "worse", "too noisy", "not measured"]

#: Contract: two models that answer alike have this SQNR.
IDENTICAL_DB = 200.0
#: The same model opened again and again takes up to 2 % more or less at its peak, stored another way up to 3 %.
SIZE_TOLERANCE, MEMORY_TOLERANCE = 0.005, 0.05


@dataclass(frozen=True, slots=True)
class Tile:
    """One metric: texts of before and after, ratio (above 1 is better) with its interval, and a verdict word.

    `before` is empty where the metric itself is a comparison (fidelity). `change` stands for the ratio where there is
    none (a difference in points). `note` says what the metric rests on. `below` says that what Auto-mix keeps by
    default is missed, where no target was set.
    """

    label: str
    before: str
    after: str
    ratio: float | None = None
    ci95: tuple[float, float] | None = None
    change: str = ""
    verdict: Verdict | None = None
    help: str = ""
    note: str = ""
    below: str = ""

    @property
    def figure(self) -> str:
        """Before and after in one line; "not known" is said once."""
        if not self.before or self.before == self.after == quantities.NOT_KNOWN:
            return self.after
        return f"{self.before} → {self.after}"


def tiles(document: Mapping[str, Any]) -> tuple[Tile, ...]:
    """The metrics in the order they are shown; what was not measured says so.

    Args:
        document: a candidate's `build` or `optimize` document, or a `compare` document.
    """
    compared = document.get("comparison") or document
    short = shortfall(document)
    below = {} if short is None else {short.metric: short.text}
    return (
        latency(compared),
        _throughput(compared),
        _bytes(compared, "size", "File size", "The .onnx file.", exact=True),
        _bytes(compared, "memory", "Peak memory", "Peak of the process: interpreter, runtime and model.", exact=False),
        replace(accuracy(compared), below=below.get("accuracy", "")),
        replace(sqnr(compared), below=below.get("sqnr", "")),
        replace(_agreement(compared), below=below.get("agreement", "")),
        energy(document),
    )


def latency(compared: Mapping[str, Any]) -> Tile:
    """Mean wall time of one run, paired and interleaved."""
    measured = compared.get("latency") or compared.get("speedup") or {}
    of_ratio = (compared.get("ratio") or {}).get("latency") or {}
    value = measured.get("ratio", of_ratio.get("value"))
    interval = _pair(measured.get("ci95") or of_ratio.get("ci95"))
    verdict = _by_interval(value, interval)
    if compared.get("verdict") == "too noisy":
        verdict = "too noisy"
    before, after = quantities.times_ms(measured.get("before_ms"), measured.get("after_ms"))
    return Tile(
        "Latency",
        before,
        after,
        value,
        interval,
        verdict=verdict,
        help="Mean wall time of one run on the holdout samples, original and candidate in turn in two processes.",
    )


def accuracy(compared: Mapping[str, Any]) -> Tile:
    """The task's metric on the holdout samples, with the change in points."""
    found = compared.get("accuracy") or {}
    before, after = found.get("before"), found.get("after")
    interval = found.get("ci95_change")
    help_text = f"{found.get('metric') or 'Metric'} on the holdout samples."
    if before is None or after is None:
        reason = found.get("why") or "The data has no labels."
        return Tile("Accuracy", "", quantities.NOT_KNOWN, verdict="not measured", help=str(reason))
    change = quantities.points(after - before)
    if interval:
        change += f" [{quantities.three(100 * interval[0])}, {quantities.three(100 * interval[1])}]"
    verdict: Verdict = "no difference seen"
    if interval and interval[1] < 0:
        verdict = "worse"
    elif interval and interval[0] > 0:
        verdict = "better"
    return Tile(
        f"Accuracy ({found.get('metric')})" if found.get("metric") else "Accuracy",
        quantities.share(before),
        quantities.share(after),
        change=change,
        verdict=verdict,
        help=help_text,
        note=_counted(found.get("samples")),
    )


def _counted(samples: Any) -> str:
    return f"on {quantities.counted(samples, 'holdout sample')}" if samples else ""


def energy(document: Mapping[str, Any]) -> Tile:
    """Joules per run, where this machine lets them be read; never 0 where it does not."""
    found = document.get("energy") or {}
    before, after = found.get("before_j"), found.get("after_j")
    if not before or after is None:
        text = "This machine has no energy counter that can be read; nothing is estimated in its place."
        return Tile("Energy", "", "not readable here", help=text)
    ratio = before / after if after else None
    source = f"Source: {found.get('source') or 'not known'}."
    before_text, after_text = quantities.with_unit(before, "J"), quantities.with_unit(after, "J")
    return Tile("Energy", before_text, after_text, ratio, verdict=_by_point(ratio), help=source)


def _throughput(compared: Mapping[str, Any]) -> Tile:
    found = compared.get("throughput") or {}
    ratio = _value((compared.get("ratio") or {}).get("throughput"))
    before = quantities.with_unit(found.get("before_per_s"), "/s")
    after = quantities.with_unit(found.get("after_per_s"), "/s")
    help_text = "Samples per second at this batch size."
    if not found:
        before, after = "", quantities.ratio(ratio)
        ratio = None
    return Tile("Throughput", before, after, ratio, verdict=latency(compared).verdict, help=help_text)


def _bytes(compared: Mapping[str, Any], key: str, label: str, help_text: str, *, exact: bool) -> Tile:
    found = compared.get(key) or {}
    ratio = _value((compared.get("ratio") or {}).get(key))
    before, after = found.get("before_bytes"), found.get("after_bytes")
    if ratio is None and before and after:
        ratio = before / after
    verdict = _by_point(ratio, tolerance=SIZE_TOLERANCE if exact else MEMORY_TOLERANCE)
    return Tile(label, quantities.size(before), quantities.size(after), ratio, verdict=verdict, help=help_text)


def sqnr(compared: Mapping[str, Any]) -> Tile:
    """How far the outputs are from the original's, in decibels."""
    found = compared.get("fidelity") or {}
    value = found.get("sqnr_db")
    help_text = "Signal to noise of the outputs against the original's, in dB; the worst output counts."
    if value is None:
        return Tile(
            "Fidelity (SQNR)", "", quantities.NOT_KNOWN, verdict="not measured", help=found.get("why") or help_text
        )
    text = "identical" if value >= IDENTICAL_DB else quantities.with_unit(value, "dB")
    return Tile("Fidelity (SQNR)", "", text, help=help_text)


def _agreement(compared: Mapping[str, Any]) -> Tile:
    value = (compared.get("fidelity") or {}).get("agreement")
    help_text = "Share of the holdout samples with the same top answer as the original."
    verdict: Verdict | None = "not measured" if value is None else None
    return Tile("Agreement", "", quantities.share(value), verdict=verdict, help=help_text)


def _by_interval(value: float | None, interval: tuple[float, float] | None) -> Verdict:
    if value is None:
        return "not measured"
    if interval is None:
        return _by_point(value)
    return "better" if interval[0] > 1 else "worse" if interval[1] < 1 else "no difference seen"


def _by_point(value: float | None, *, tolerance: float = 0.02) -> Verdict:
    if value is None:
        return "not measured"
    return "better" if value > 1 + tolerance else "worse" if value < 1 - tolerance else "no difference seen"


def _value(ratio: Any) -> float | None:
    if isinstance(ratio, Mapping):
        ratio = ratio.get("value")
    return None if ratio is None else float(ratio)


def _pair(interval: Sequence[float] | None) -> tuple[float, float] | None:
    return None if interval is None else (float(interval[0]), float(interval[1]))
