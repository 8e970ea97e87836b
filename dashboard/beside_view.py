"""Two profiles of one model beside each other: what differs in how they were measured, and by how much the figures do.

Nothing is normalised: times are per run, whatever the batch, and whoever reads them is told what was different.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.report import quantities
from dashboard import conditions
from dashboard.layer_views import LayerView

Document = Mapping[str, Any]

#: A machine was busier by more than this load average than the other time.
_LOAD = 0.5


@dataclass(frozen=True, slots=True)
class Pair:
    """One figure in both runs, in words, with the change; `ratio` is there ÷ here."""

    label: str
    here: str
    there: str
    change: str
    ratio: float | None
    help: str = ""


@dataclass(frozen=True, slots=True)
class LayerPair:
    """One layer in both runs; None: not known there."""

    here: LayerView
    there: LayerView

    @property
    def change_ms(self) -> float | None:
        """How much longer it takes there."""
        if self.here.ms is None or self.there.ms is None:
            return None
        return self.there.ms - self.here.ms

    @property
    def ratio(self) -> float | None:
        """Its time there over that here."""
        return None if not self.here.ms or self.there.ms is None else self.there.ms / self.here.ms


def different_conditions(here: Document, there: Document) -> list[str]:
    """What was different, each in a few words: "threads: 1 here, 4 there"; empty where nothing known was."""
    mine, other = here.get("conditions") or {}, there.get("conditions") or {}
    found = []
    for key, label in _CONDITIONS.items():
        if mine.get(key) != other.get(key):
            found.append(f"{label}: {_told(mine.get(key))} here, {_told(other.get(key))} there")
    if _data(here) != _data(there):
        found.append(f"data: {_data(here)} here, {_data(there)} there")
    elif (here.get("data") or {}).get("sha256") != (there.get("data") or {}).get("sha256"):
        found.append(f"data: both are called {_data(here)}, but hold different samples")
    if here.get("mixdesk") != there.get("mixdesk"):
        found.append(f"Mixdesk: {_told(here.get('mixdesk'))} here, {_told(there.get('mixdesk'))} there")
    first, second = mine.get("load_average"), other.get("load_average")
    if first is not None and second is not None and abs(first - second) > _LOAD:
        found.append(f"load of the machine: {first} here, {second} there")
    return found


def cautions(here: Document, there: Document) -> list[str]:
    """What to keep in mind while reading the two beside each other."""
    mine, other = here.get("conditions") or {}, there.get("conditions") or {}
    found = []
    if mine.get("batch") != other.get("batch"):
        found.append(
            f"A run takes {_samples(mine.get('batch'))} here and {_samples(other.get('batch'))} there: "
            "times are per run, not per sample."
        )
    when = conditions.moment(mine.get("time")), conditions.moment(other.get("time"))
    if all(when):
        found.append(
            f"Measured at {when[0]} here and at {when[1]} there, not in turn: a few percent can be the machine's. "
            "The page Compare measures candidates in pairs."
        )
    return found


def pairs(here: Document, there: Document) -> list[Pair]:
    """The figures of whole runs; those that neither run knows are left out."""
    found = [
        _time("Latency, mean", "wall_ms.mean", here, there, _interval(here, there)),
        _time("Slowest 5 %", "wall_ms.p95", here, there),
        _time("In kernels", "kernel_ms", here, there, "With the profiler on."),
        _time("Between kernels", "gap_ms", here, there, "With the profiler on."),
        _size("Activations at the peak", "memory.activation_peak_bytes", here, there),
        _size("Whole process", "memory.process_peak_bytes", here, there),
    ]
    return [pair for pair in found if pair is not None]


def layer_pairs(here: Sequence[LayerView], there: Sequence[LayerView]) -> list[LayerPair]:
    """Layers that took time in either run, the largest change first, then those of which one time is not known."""
    other = {view.id: view for view in there}
    both = [LayerPair(view, other[view.id]) for view in here if view.id in other]
    timed = [pair for pair in both if pair.here.ms or pair.there.ms]
    return sorted(timed, key=lambda pair: (pair.change_ms is None, -abs(pair.change_ms or 0.0), pair.here.index))


def told_layer(pair: LayerPair | None, layer: str | None) -> str:
    """The chosen layer in both runs, in one line."""
    if layer is None:
        return "A click on a cell or a row chooses a layer in both."
    if pair is None:
        return f"{layer} takes no time of its own in either run."
    here, there = quantities.times_ms(pair.here.ms, pair.there.ms)
    told = f"{layer}: {here} here, {there} there"
    if pair.ratio is not None:
        told += f", {quantities.ratio(pair.ratio)} the time"
    if pair.here.precision != pair.there.precision and (pair.here.precision or pair.there.precision):
        told += f"; computes in {_told(pair.here.precision)} here, {_told(pair.there.precision)} there"
    return f"{told}."


_CONDITIONS = {
    "threads": "threads",
    "batch": "samples per run",
    "cpu": "processor",
    "machine": "machine",
    "onnxruntime": "onnxruntime",
    "provider": "provider",
}


def _told(value: object) -> str:
    return quantities.NOT_KNOWN if value is None else str(value)


def _samples(batch: object) -> str:
    return quantities.counted(batch, "sample") if isinstance(batch, int) else f"{_told(batch)} samples"


def _data(document: Document) -> str:
    data = document.get("data") or {}
    if not data:
        return quantities.NOT_KNOWN
    shapes = "; ".join(f"{name} {quantities.shape(dims)}" for name, dims in (data.get("shapes") or {}).items())
    name = "synthetic inputs" if data.get("synthetic") else str(data.get("name") or "data without a name")
    return f"{name} ({shapes})" if shapes else name


def _value(document: Document, path: str) -> float | None:
    found: Any = document
    for part in path.split("."):
        found = (found or {}).get(part)
    return None if found is None else float(found)


def _time(label: str, path: str, here: Document, there: Document, help_text: str = "") -> Pair | None:
    mine, other = _value(here, path), _value(there, path)
    if mine is None and other is None:
        return None
    first, second = quantities.times_ms(mine, other)
    change = quantities.NOT_KNOWN
    if mine is not None and other is not None:
        change = f"{'+' if other > mine else ''}{quantities.time_ms(other - mine)}"
    return Pair(label, first, second, change, _ratio(mine, other), help_text)


def _size(label: str, path: str, here: Document, there: Document) -> Pair | None:
    mine, other = _value(here, path), _value(there, path)
    if mine is None and other is None:
        return None
    change = quantities.NOT_KNOWN
    if mine is not None and other is not None:
        sign = "+" if other > mine else "-" if other < mine else ""
        change = f"{sign}{quantities.size(abs(other - mine))}"
    return Pair(label, quantities.size(mine), quantities.size(other), change, _ratio(mine, other))


def _ratio(mine: float | None, other: float | None) -> float | None:
    return None if not mine or other is None else other / mine


def _interval(here: Document, there: Document) -> str:
    """Whether the intervals of the two means leave a difference."""
    mine, other = ((document.get("wall_ms") or {}).get("ci95") for document in (here, there))
    if not mine or not other:
        return ""
    told = f"95 %: {quantities.time_range(mine)} here, {quantities.time_range(other)} there."
    if mine[0] <= other[1] and other[0] <= mine[1]:
        return f"{told} The intervals overlap: no difference is seen."
    return f"{told} The intervals do not overlap."
