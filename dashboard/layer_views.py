"""Layer views: what `inspect` and `profile` say of each layer, joined by layer id into one value that pages draw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.report import quantities
from dashboard.kept import kept

Dims = tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class LayerView:
    """One layer with its structure (from `inspect`) and its figures (from `profile`; None: not known).

    `share` is the fraction (0..1) of the kernel time; `ms` is per run; `moved_bytes` is read and written per run.
    `precision` is what its kernel computes in. `reached_gflops` and `told_intensity` are the profile's own figures; ask
    `gflops` and `intensity`. `attained` is the fraction (0..1) of what this machine can reach with so many operations
    and bytes. `live_bytes` lie in activations while it runs; `held_bytes` of those alive at the peak are its outputs.
    """

    id: str
    index: int
    op: str
    group: str
    group_kind: str
    module: tuple[str, ...]
    input_shapes: tuple[Dims | None, ...]
    output_shapes: tuple[Dims | None, ...]
    parameters: int
    weight_bytes: int
    macs: float | None
    ms: float | None = None
    share: float | None = None
    moved_bytes: float | None = None
    limited_by: str | None = None
    executes_as: str | None = None
    runs: float | None = None
    precision: str | None = None
    reached_gflops: float | None = None
    told_intensity: float | None = None
    attained: float | None = None
    live_bytes: float | None = None
    held_bytes: float | None = None

    @property
    def gflops(self) -> float | None:
        """Achieved 10^9 operations per second (two per multiply-accumulate)."""
        if self.reached_gflops is not None:
            return self.reached_gflops
        if not self.macs or not self.ms:
            return None
        return 2 * self.macs / self.ms / 1e6

    @property
    def intensity(self) -> float | None:
        """Operations per byte read or written (two per multiply-accumulate)."""
        if self.told_intensity is not None:
            return self.told_intensity
        if self.macs is None or not self.moved_bytes:
            return None
        return 2 * self.macs / self.moved_bytes


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure that a map may be coloured by: its name, its unit and how it is read from a layer.

    `measured` ones need a profile. `adds_up`: the figure of a module is the sum of those of its layers.
    """

    key: str
    label: str
    unit: str
    of: Callable[[LayerView], float | None]
    write: Callable[[float | None], str]
    measured: bool = True
    adds_up: bool = True


def _percent(view: LayerView) -> float | None:
    return None if view.share is None else view.share * 100


def _attained(view: LayerView) -> float | None:
    return None if view.attained is None else view.attained * 100


def _write_percent(value: float | None) -> str:
    return quantities.with_unit(value, "%")


#: Two operations per multiply-accumulate, whatever they compute in.
INTENSITY_UNIT = "FLOP/B"


def write_intensity(value: float | None) -> str:
    """Operations per byte: "12.4 FLOP/B"."""
    return quantities.with_unit(value, INTENSITY_UNIT)


MEASURES: tuple[Measure, ...] = (
    Measure("latency", "Latency", "ms", lambda view: view.ms, quantities.time_ms),
    Measure("share", "Share of time", "%", _percent, _write_percent),
    Measure("macs", "MACs", "MAC", lambda view: view.macs, lambda value: quantities.count(value, "MAC"), False),
    Measure("bytes", "Bytes moved", "B", lambda view: view.moved_bytes, quantities.size),
    Measure("intensity", "Intensity", INTENSITY_UNIT, lambda view: view.intensity, write_intensity, adds_up=False),
    Measure("attained", "Of attainable", "%", _attained, _write_percent, adds_up=False),
    Measure("weights", "Weight bytes", "B", lambda view: float(view.weight_bytes), quantities.size, False),
)


def measure(key: str) -> Measure:
    """The measure of that key; latency for an unknown one."""
    return next((known for known in MEASURES if known.key == key), MEASURES[0])


@kept
def short_names(views: Sequence[LayerView]) -> dict[str, str]:
    """Layer id -> the shortest end of its path, of two parts or more, that no other layer shares.

    A last part that only repeats the operator is left out first: "/stage3/1/conv1/Conv" can be "1/conv1".
    """
    paths = {view.id: _told_path(view) for view in views}
    ends = Counter(path[-length:] for path in paths.values() for length in range(1, len(path) + 1))
    names = {}
    for layer, path in paths.items():
        unique = (length for length in range(min(2, len(path)), len(path) + 1) if ends[path[-length:]] == 1)
        length = next(unique, None)
        names[layer] = "/".join(path[-length:]) if length else layer
    return names


def _told_path(view: LayerView) -> tuple[str, ...]:
    path = tuple(part for part in view.id.split("/") if part)
    return path[:-1] if len(path) > 1 and path[-1] == view.op else path


def layer_views(inspection: Mapping[str, Any], profile: Mapping[str, Any] | None = None) -> tuple[LayerView, ...]:
    """All layers of a model in graph order.

    Args:
        inspection: the `inspect` document (its "layers").
        profile: the `profile` document of the same model; None: nothing has been measured.
    """
    found = profile or {}
    measured = {row["id"]: row for row in found.get("layers") or ()}
    live, held = _memory(found.get("memory") or {})
    return tuple(
        _view(row, measured.get(row["id"], {}), live.get(row["id"]), held.get(row["id"]))
        for row in inspection.get("layers", ())
    )


def _memory(memory: Mapping[str, Any]) -> tuple[dict[str, float], dict[str, float]]:
    """Layer id -> bytes alive while it runs, and the bytes of its own outputs that live at the peak."""
    live = {str(step["layer"]): float(step["bytes"]) for step in memory.get("steps") or ()}
    held: dict[str, float] = {}
    for holder in memory.get("holders") or ():
        if holder.get("layer") is not None:
            held[holder["layer"]] = held.get(holder["layer"], 0.0) + float(holder["bytes"])
    return live, held


def _view(
    row: Mapping[str, Any], measured: Mapping[str, Any], live_bytes: float | None, held_bytes: float | None
) -> LayerView:
    macs = measured.get("macs")
    return LayerView(
        id=row["id"],
        index=int(row["index"]),
        op=row["op"],
        group=row["group"],
        group_kind=row.get("group_kind") or "other",
        module=_module(row.get("module")),
        input_shapes=_shapes(row.get("input_shapes")),
        output_shapes=_shapes(row.get("output_shapes")),
        parameters=int(row.get("parameters") or 0),
        weight_bytes=int(row.get("weight_bytes") or 0),
        macs=row.get("macs") if macs is None else macs,
        ms=measured.get("ms"),
        share=measured.get("share"),
        moved_bytes=measured.get("bytes"),
        limited_by=measured.get("limited_by"),
        executes_as=measured.get("executes_as"),
        runs=measured.get("runs"),
        precision=measured.get("precision"),
        reached_gflops=measured.get("gflops"),
        told_intensity=measured.get("intensity"),
        attained=measured.get("attained"),
        live_bytes=live_bytes,
        held_bytes=held_bytes,
    )


def _module(value: str | Sequence[str] | None) -> tuple[str, ...]:
    if not value:
        return ()
    return tuple(value.strip("/").split("/")) if isinstance(value, str) else tuple(value)


def _shapes(value: Sequence[Sequence[int | str] | None] | None) -> tuple[Dims | None, ...]:
    return tuple(None if dims is None else tuple(dims) for dims in value or ())
