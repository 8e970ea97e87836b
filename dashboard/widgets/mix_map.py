"""The map of the mix: what each layer will be, what changed since the last candidate, which group is looked at."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.recipe.plan import Plan
from dashboard.figures.precision_map import precision_map
from dashboard.group_views import GroupView
from dashboard.layer_views import LayerView
from dashboard.services import Document
from dashboard.widgets import layer_choice

_HEIGHT = 340.0


def draw(layers: Sequence[LayerView], inspection: Document, plan: Plan, groups: Sequence[GroupView]) -> None:
    """The precision map; a click chooses a layer, and with it its group."""
    with st.container(border=True):
        figure = precision_map(
            layers,
            inspection["layout"],
            {decision.layer: str(decision.precision) for decision in plan.decisions},
            layer_choice.theme(),
            notes={decision.layer: decision.why for decision in plan.decisions},
            marked=[layer for view in groups if view.changed for layer in view.layers],
            selected=layer_choice.chosen({view.id for view in layers}),
            height=_HEIGHT,
        )
        layer_choice.chart(figure, key="mix.map", alt="Graph from left to right, coloured by the precision to be built")


def chosen(layers: Sequence[LayerView], groups: Sequence[GroupView]) -> GroupView | None:
    """The group of the layer in the link."""
    layer = layer_choice.chosen({view.id for view in layers})
    return next((view for view in groups if layer in view.layers), None)
