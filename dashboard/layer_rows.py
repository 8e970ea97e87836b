"""Layer rows: the structure in an `inspect` document, read back into the engine's own LayerTable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.graph.layer import Group, Layer, LayerTable, Shape


def layer_table(inspection: Mapping[str, Any]) -> LayerTable:
    """The layers, groups and edges of an `inspect` document."""
    layers = tuple(_layer(row) for row in inspection["layers"])
    groups = tuple(
        Group(row["id"], row["anchor"], row["kind"], tuple(row["layers"])) for row in inspection.get("groups", ())
    )
    edges = tuple((source, target) for source, target in inspection["layout"]["edges"])
    return LayerTable(layers, groups, edges)


def _layer(row: Mapping[str, Any]) -> Layer:
    return Layer(
        id=row["id"],
        index=row["index"],
        op_type=row["op"],
        domain=row.get("domain") or "",
        group=row["group"],
        scope=tuple(row.get("scope") or ()),
        module=tuple(row.get("module") or ()),
        inputs=tuple(row.get("inputs") or ()),
        outputs=tuple(row.get("outputs") or ()),
        input_shapes=_shapes(row.get("input_shapes")),
        output_shapes=_shapes(row.get("output_shapes")),
        dtype=row.get("dtype") or "",
        parameters=row.get("parameters") or 0,
        weight_bytes=row.get("weight_bytes") or 0,
        activation_bytes=row.get("activation_bytes"),
        macs=row.get("macs"),
    )


def _shapes(value: Sequence[Sequence[int | str] | None] | None) -> tuple[Shape | None, ...]:
    return tuple(None if dims is None else tuple(dims) for dims in value or ())
