"""Layer views: what `inspect` and `profile` say of each layer, joined by layer id into one value that pages draw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.report import quantities

Dims = tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class LayerView:
    """One layer with its structure (from `inspect`) and its figures (from `profile`; None: not known).

    `share` is the fraction (0..1) of the kernel time; `ms` is per run; `moved_bytes` is read and written per run.
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

    @property
    def gflops(self) -> float | None:
        """Achieved 10^9 floating-point operations per second (two per multiply-accumulate)."""
        if not self.macs or not self.ms:
            return None
        return 2 * self.macs / self.ms / 1e6


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure that a map may be coloured by: its name, its unit and how it is read from a layer."""

    key: str
    label: str
    unit: str
    of: Callable[[LayerView], float | None]
    write: Callable[[float | None], str]


def _percent(view: LayerView) -> float | None:
    return None if view.share is None else view.share * 100


MEASURES: tuple[Measure, ...] = (
    Measure("latency", "Latency", "ms", lambda view: view.ms, quantities.time_ms),
    Measure("share", "Share of time", "%", _percent, lambda value: quantities.with_unit(value, "%")),
    Measure("macs", "MACs", "MAC", lambda view: view.macs, lambda value: quantities.count(value, "MAC")),
    Measure("bytes", "Bytes moved", "B", lambda view: view.moved_bytes, quantities.size),
    Measure("weights", "Weight bytes", "B", lambda view: float(view.weight_bytes), quantities.size),
)


def measure(key: str) -> Measure:
    """The measure of that key; latency for an unknown one."""
    return next((known for known in MEASURES if known.key == key), MEASURES[0])


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
    measured = {row["id"]: row for row in (profile or {}).get("layers", ())}
    return tuple(_view(row, measured.get(row["id"], {})) for row in inspection.get("layers", ()))


def _view(row: Mapping[str, Any], measured: Mapping[str, Any]) -> LayerView:
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
    )


def _module(value: str | Sequence[str] | None) -> tuple[str, ...]:
    if not value:
        return ()
    return tuple(value.strip("/").split("/")) if isinstance(value, str) else tuple(value)


def _shapes(value: Sequence[Sequence[int | str] | None] | None) -> tuple[Dims | None, ...]:
    return tuple(None if dims is None else tuple(dims) for dims in value or ())
