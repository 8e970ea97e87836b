"""Warm: draws one small map and lists one layer when the server comes up, so that no visitor waits for first uses.

The first figure of each sort has Plotly import and check its classes, the first table has pandas do so.
"""

from __future__ import annotations

from typing import Any

from dashboard.figures.heat_map import heat_map
from dashboard.figures.theme import LIGHT
from dashboard.figures.treemap import treemap
from dashboard.layer_tables import layer_table
from dashboard.layer_views import layer_views, measure

_ROW: dict[str, Any] = {"id": "layer", "index": 0, "op": "Relu", "group": "layer", "module": ["module"]}
_MEASURED: dict[str, Any] = {"id": "layer", "ms": 1.0, "share": 1.0}
_LAYOUT: dict[str, Any] = {"nodes": [{"layer": "layer", "x": 0, "y": 0}], "edges": []}


def warm_up() -> None:
    """Draws and throws away."""
    views = layer_views({"layers": [_ROW]}, {"layers": [_MEASURED]})
    latency = measure("latency")
    for figure in (heat_map(views, _LAYOUT, latency, LIGHT), treemap(views, latency, LIGHT, title="model")):
        figure.to_json(validate=False)
    layer_table(views, LIGHT)
