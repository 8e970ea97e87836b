"""The Profile page's map: the graph coloured by one figure, with modules to open and a look from near."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from dashboard.figures import graph_map
from dashboard.figures.fold import Fold, fold_layout
from dashboard.figures.heat_map import HEIGHT, WIDTH, heat_map
from dashboard.figures.neighbourhood import neighbourhood
from dashboard.figures.precision_map import UNKNOWN, precision_map
from dashboard.figures.theme import FigureTheme
from dashboard.figures.unfold import Nest, Shown, read_nest, unfold
from dashboard.kept import kept
from dashboard.layer_views import MEASURES, LayerView, measure
from dashboard.map_views import MapView, opening, shown_alone
from dashboard.module_views import shown_views
from dashboard.services import Document
from dashboard.state import LAYER, MAP_VIEWS
from dashboard.widgets import layer_choice, profile_map_controls
from dashboard.widgets.chart_touch import Box

_KEY = "profile.map"
#: A colour choice beside the figures: what the kernels really compute in.
PRECISION = "precision"


def draw(sha256: str, views: Sequence[LayerView], inspection: Document, *, measured: bool) -> None:
    """The map and what is set in it: colour, detail, a look from near.

    Args:
        sha256: of the model, whose open modules are kept for this visitor.
        views: all layers.
        inspection: the `inspect` document.
        measured: whether the views carry figures of a profile.
    """
    nest = kept_nest(inspection)
    chosen = layer_choice.chosen({view.id for view in views})
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            colour = profile_map_controls.colour(offered(measured=measured))
            view = profile_map_controls.detail(sha256, nest)
            shown = _shown(nest, view, inspection)
            profile_map_controls.buttons(sha256, nest, shown, view, chosen)
        figure, fold = _figure(views, nest, shown, colour, layer_choice.theme())
        cell = None if chosen is None else shown.cell_of.get(chosen)
        boxes = [] if cell is None or cell not in fold.places else [Box(*graph_map.cell_box(fold, cell))]
        layer_choice.chart(
            figure,
            key=_KEY,
            alt=f"Graph of {len(fold.places)} layers and modules from left to right, coloured by {_label(colour)}",
            cells=boxes,
            on_pick=lambda picked: _pick(sha256, nest, shown, picked),
        )


def offered(*, measured: bool) -> dict[str, str]:
    """Colour choices: key -> label. What needs a profile is left out before there is one."""
    found = {known.key: known.label for known in MEASURES if measured or not known.measured}
    return {**found, PRECISION: "Precision"} if measured else found


def _label(colour: str) -> str:
    return "precision" if colour == PRECISION else measure(colour).label.lower()


def _pick(sha256: str, nest: Nest | None, shown: Shown, picked: str) -> None:
    """A click on a layer chooses it; a click on a module opens it."""
    path = shown.modules.get(picked)
    if path is None or nest is None:
        LAYER.set(picked)
        return
    kept_views = MAP_VIEWS.get()
    kept_views[sha256] = opening(nest, kept_views.get(sha256, MapView()), path)


@kept
def kept_nest(inspection: Mapping[str, Any]) -> Nest | None:
    """The modules of a model, read once per document."""
    return read_nest(inspection)


def _shown(nest: Nest | None, view: MapView, inspection: Document) -> Shown:
    if view.near is not None:
        return _near(nest, inspection, view.near)
    if nest is None or view.opened is None:
        return _everything(inspection)
    return _unfolded(nest, inspection, view.opened)


@kept
def _unfolded(nest: Nest, inspection: Mapping[str, Any], opened: frozenset[str]) -> Shown:
    return unfold(nest, inspection["layout"]["edges"], opened)


@kept
def _everything(inspection: Mapping[str, Any]) -> Shown:
    return shown_alone(inspection["layout"])


@kept
def _near(nest: Nest | None, inspection: Mapping[str, Any], layer: str) -> Shown:
    together = () if nest is None or not nest.home.get(layer) else nest.layers[nest.home[layer]]
    return shown_alone(neighbourhood(inspection["layout"], layer, together=together))


@kept
def _figure(
    views: Sequence[LayerView], nest: Nest | None, shown: Shown, colour: str, theme: FigureTheme
) -> tuple[go.Figure, Fold]:
    """The figure without the chosen layer, which is framed over it: a click leaves it as it is."""
    cells = views if nest is None else shown_views(views, shown, nest)
    fold = fold_layout(shown.layout, width=WIDTH, height=HEIGHT)
    if colour == PRECISION:
        precisions = {view.id: view.precision or UNKNOWN for view in cells}
        return precision_map(cells, shown.layout, precisions, theme, fold=fold), fold
    return heat_map(cells, shown.layout, measure(colour), theme, fold=fold), fold
