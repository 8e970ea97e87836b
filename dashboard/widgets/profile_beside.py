"""Another run beside the profile on the page: what was different, figures with their change, maps moving together."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
import streamlit as st

from core.report import quantities
from dashboard import services, state
from dashboard.beside_view import (
    LayerPair,
    Pair,
    cautions,
    different_conditions,
    layer_pairs,
    pairs,
    told_layer,
)
from dashboard.figures.fold import Fold, fold_layout
from dashboard.figures.graph_map import cell_box
from dashboard.figures.heat_map import WIDTH
from dashboard.figures.labels import short_plain
from dashboard.figures.paired_maps import PAIR_HEIGHT, paired_maps
from dashboard.figures.theme import FigureTheme
from dashboard.kept import kept
from dashboard.layer_tables import beside_table
from dashboard.layer_views import MEASURES, LayerView, layer_views, measure
from dashboard.services import Document, Subject
from dashboard.tables import Table
from dashboard.widgets import layer_choice
from dashboard.widgets.chart_touch import Box
from dashboard.widgets.segments import segments
from dashboard.widgets.text import plain

_CHOICE = "profile.beside"
_TABLE_PX = 440
_NONE = (
    "No other profile of this model is finished. Profile it with other data, shapes, threads or batch, or build a "
    "candidate on the page Mix: both can then be looked at beside this one."
)
_GONE = "The run that the link names for this comparison is not in this workspace, or was of another model."


def beside(on: Subject, document: Document, views: Sequence[LayerView]) -> None:
    """Choice of the other run, differences of conditions, tiles, maps and table.

    Args:
        on: what is on the desk.
        document: the profile on the page ("here").
        views: its layers.
    """
    other = _choose(on)
    inspection = services.inspection(on)
    if other is None or inspection is None:
        return
    _conditions(document, other)
    _tiles(document, other)
    after = _views(inspection, other)
    selected = layer_choice.chosen({view.id for view in views})
    changes = _pairs(views, after)
    _maps(views, after, inspection, selected)
    st.markdown(plain(told_layer(next((pair for pair in changes if pair.here.id == selected), None), selected)))
    if changes:
        table = _table(changes)
        layer_choice.table(table, key="profile.beside.layers", height=_TABLE_PX, alt="Layers in both runs")


def _choose(on: Subject) -> Document | None:
    known = services.other_profiles(on)
    wanted = state.BESIDE.get()
    if not known:
        st.info(_NONE, icon=":material/compare:")
        return None
    labels = {run.id: run.label for run in known}
    if wanted is not None and wanted not in labels:
        st.caption(_GONE)
    st.session_state[_CHOICE] = wanted if wanted in labels else None
    st.selectbox(
        "Beside",
        list(labels),
        index=None,
        format_func=labels.__getitem__,
        key=_CHOICE,
        on_change=lambda: state.BESIDE.set(st.session_state[_CHOICE]),
        placeholder="Choose another run of this model",
        help="Finished profiles of this model, and of the candidates built from it. The link keeps the choice.",
    )
    return None if wanted not in labels else services.other_profile(on, str(wanted))


def _conditions(here: Document, there: Document) -> None:
    different = different_conditions(here, there)
    if different:
        st.warning(plain(f"Measured under different conditions: {'; '.join(different)}."), icon=":material/difference:")
    else:
        st.caption("Measured under the same conditions, as far as they are known.")
    for sentence in cautions(here, there):
        st.caption(plain(sentence))


def _tiles(here: Document, there: Document) -> None:
    shown = pairs(here, there)
    if not shown:
        st.caption("No figure of a whole run is known of either.")
        return
    for column, pair in zip(st.columns(len(shown)), shown, strict=True):
        with column, st.container(border=True, height="stretch", gap="xxsmall"):
            st.caption(plain(pair.label), help=plain(pair.help) or None)
            st.markdown(plain(f"{pair.here} → {pair.there}"))
            st.caption(plain(told_change(pair)))


def told_change(pair: Pair) -> str:
    """The change, and how many times: "-0.90 ms, 0.571x"."""
    return pair.change if pair.ratio is None else f"{pair.change}, {quantities.ratio(pair.ratio)}"


def _maps(views: Sequence[LayerView], after: Sequence[LayerView], inspection: Document, selected: str | None) -> None:
    offered = {known.key: known.label for known in MEASURES if known.measured}
    by = segments("Colour by", offered, key="profile.beside.by")
    figure = _figure(views, after, inspection, by=by, theme=layer_choice.theme())
    fold = _fold(inspection)
    alt = f"{measure(by).label} of each layer in both runs, on one scale"
    shown = selected is not None and selected in fold.places
    boxes = [Box(*cell_box(fold, str(selected)), axes) for axes in ("", "2")] if shown else []
    layer_choice.chart(figure, key="profile.beside.maps", alt=alt, cells=boxes)


@kept
def _views(inspection: Document, other: Document) -> tuple[LayerView, ...]:
    return layer_views(inspection, other)


@kept
def _pairs(views: Sequence[LayerView], after: Sequence[LayerView]) -> list[LayerPair]:
    return layer_pairs(views, after)


@kept
def _table(changes: Sequence[LayerPair]) -> Table:
    return beside_table(changes)


@kept
def _figure(
    views: Sequence[LayerView],
    after: Sequence[LayerView],
    inspection: Document,
    *,
    by: str,
    theme: FigureTheme,
) -> go.Figure:
    titles = [_title(name, shown, by) for name, shown in (("Here", views), ("There", after))]
    return paired_maps(
        views,
        inspection["layout"],
        measure(by),
        {},
        theme,
        after=after,
        titles=(titles[0], titles[1]),
    )


@kept
def _fold(inspection: Document) -> Fold:
    """Where the maps have their cells."""
    return fold_layout(inspection["layout"], width=WIDTH, height=PAIR_HEIGHT)


def _title(name: str, views: Sequence[LayerView], by: str) -> str:
    known = measure(by)
    if not known.adds_up:
        return short_plain(f"{name}: {known.label}", 60)
    total = sum(known.of(view) or 0.0 for view in views)
    return short_plain(f"{name}: {known.label}, {known.write(total)} in all", 60)
