"""The map of the mix: what each layer will be, what changed since the last candidate, which group is looked at."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.recipe.plan import Plan
from dashboard.figures.fold import Fold, fold_layout
from dashboard.figures.graph_map import cell_box
from dashboard.figures.heat_map import WIDTH
from dashboard.figures.precision_map import precision_map
from dashboard.group_views import GroupView
from dashboard.kept import kept
from dashboard.layer_views import LayerView
from dashboard.services import Document
from dashboard.widgets import layer_choice
from dashboard.widgets.chart_touch import Box

_HEIGHT = 340.0


def draw(layers: Sequence[LayerView], inspection: Document, plan: Plan, groups: Sequence[GroupView]) -> None:
    """The precision map; a click chooses a layer, and with it its group."""
    fold, chosen_layer = _fold(inspection), layer_choice.chosen({view.id for view in layers})
    with st.container(border=True):
        figure = precision_map(
            layers,
            inspection["layout"],
            {decision.layer: str(decision.precision) for decision in plan.decisions},
            layer_choice.theme(),
            notes={decision.layer: decision.why for decision in plan.decisions},
            marked=[layer for view in groups if view.changed for layer in view.layers],
            fold=fold,
            height=_HEIGHT,
        )
        boxes = [Box(*cell_box(fold, chosen_layer))] if chosen_layer is not None and chosen_layer in fold.places else []
        alt = "Graph from left to right, coloured by the precision to be built"
        layer_choice.chart(figure, key="mix.map", alt=alt, cells=boxes)


@kept
def _fold(inspection: Document) -> Fold:
    """Where the map has its cells."""
    return fold_layout(inspection["layout"], width=WIDTH, height=_HEIGHT)


def chosen(layers: Sequence[LayerView], groups: Sequence[GroupView]) -> GroupView | None:
    """The group of the layer in the link."""
    layer = layer_choice.chosen({view.id for view in layers})
    return next((view for view in groups if layer in view.layers), None)
