"""Precision map: the graph from left to right, each layer in the colour and letter of its precision."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from dashboard.figures import graph_map
from dashboard.figures.fold import Fold, fold_layout
from dashboard.figures.heat_map import HEIGHT, LEGEND_PX, NAMES_PX, WIDTH
from dashboard.figures.labels import plain
from dashboard.figures.theme import (
    PRECISION_LETTERS,
    FigureTheme,
    bare_figure,
    ink_on,
    precision_color,
    precision_label,
)
from dashboard.layer_views import LayerView

#: What a layer is called that the runtime computes nothing for any more.
FOLDED = "folded"
#: Of a collapsed module with layers in several; of a layer whose precision nobody knows.
SEVERAL, UNKNOWN = "several", "unknown"
_HATCHED = {FOLDED: "folded away", UNKNOWN: "not known"}
#: A cell with room for this many letters shows its operator beside the letter of the precision.
_LETTERS_FOR_OP = 6


def precision_map(
    views: Sequence[LayerView],
    layout: Mapping[str, Any],
    precision_of: Mapping[str, str],
    theme: FigureTheme,
    *,
    notes: Mapping[str, str] | None = None,
    marked: Collection[str] = (),
    selected: str | None = None,
    fold: Fold | None = None,
    width: float = WIDTH,
    height: float = HEIGHT,
) -> go.Figure:
    """The precision map of a mix or a candidate.

    Args:
        views: the layers.
        layout: the stored layout.
        precision_of: layer id -> precision, "folded", "several" (of a module) or "unknown".
        theme: light or dark.
        notes: layer id -> a sentence for its hover, for example why it has this precision.
        marked: layers to frame with a dotted line (what changed).
        selected: the layer to frame.
        fold: the layout folded for this size, if that was done before.
        width: pixels the map is folded for.
        height: pixels not to exceed.
    """
    fold = fold or fold_layout(layout, width=width, height=height)
    lane = graph_map.lane_px(fold, width=width, height=height)
    figure = bare_figure(theme, height=round(lane * (fold.lanes + 0.95)) + LEGEND_PX + NAMES_PX)
    figure.add_trace(graph_map.link_trace(fold, theme, lane=lane))
    add_precisions(figure, fold, views, precision_of, theme, notes=notes, width=width, lane=lane)
    modules = {view.id: view.module for view in views}
    graph_map.add_module_names(figure, fold, modules, theme, width=width, lane=lane)
    if marked:
        figure.add_trace(graph_map.mark_trace(fold, [layer for layer in marked if layer in fold.places], theme))
    if selected in fold.places:
        figure.add_trace(graph_map.outline_trace(fold, str(selected), theme))
    graph_map.frame_axes(figure, fold)
    figure.update_layout(
        margin={"l": 0, "r": 0, "t": LEGEND_PX, "b": NAMES_PX},
        barmode="overlay",
        showlegend=True,
        legend=precision_legend(theme),
        hovermode="closest",
        dragmode="pan",
    )
    return figure


def add_precisions(
    figure: go.Figure,
    fold: Fold,
    views: Sequence[LayerView],
    precision_of: Mapping[str, str],
    theme: FigureTheme,
    *,
    notes: Mapping[str, str] | None = None,
    width: float = WIDTH,
    lane: float,
    **axes: Any,
) -> None:
    """Adds one trace a precision, the commonest first, each with its letter, its name and its count in the legend."""
    members: dict[str, list[LayerView]] = {}
    for view in views:
        if view.id in fold.places and view.id in precision_of:
            members.setdefault(precision_of[view.id], []).append(view)
    for precision, here in sorted(members.items(), key=lambda item: -len(item[1])):
        hatched = precision in _HATCHED
        color = theme.missing if hatched else precision_color(precision)
        letter, label = _letter_and_label(precision)
        line = graph_map.border(fold, theme, width, [view.id for view in here])
        marker: dict[str, Any] = {"color": color, "line": line}
        roomy = graph_map.letters_per_cell(fold, width) >= _LETTERS_FOR_OP
        names = [graph_map.cell_text(view.id, view.op) for view in here]
        texts = [f"{letter} {name}".strip() if roomy else letter for name in names]
        if hatched:
            marker["pattern"] = {"shape": "/", "size": 5, "solidity": 0.15, "fgcolor": theme.line}
        figure.add_trace(
            graph_map.cell_trace(
                fold,
                [view.id for view in here],
                hover=[_hover(view, label, (notes or {}).get(view.id, "")) for view in here],
                name=f"{label} ({len(here)})",
                marker=marker,
                showlegend=True,
                **graph_map.texts_that_fit(fold, texts, [ink_on(color)] * len(here), width=width, lane=lane),
            ),
            **axes,
        )


def _letter_and_label(precision: str) -> tuple[str, str]:
    if precision in _HATCHED:
        return "", _HATCHED[precision]
    if precision == SEVERAL:
        return "+", "+ several"
    return PRECISION_LETTERS.get(precision, "?"), precision_label(precision)


def precision_legend(theme: FigureTheme) -> dict[str, Any]:
    """The legend above the map on the right, in one line; it does not hide anything when clicked."""
    return {
        "orientation": "h",
        "x": 1.0,
        "xanchor": "right",
        "y": 1.0,
        "yanchor": "bottom",
        "font": {"color": theme.text, "size": 11},
        "itemclick": False,
        "itemdoubleclick": False,
        "bgcolor": "rgba(0,0,0,0)",
    }


def _hover(view: LayerView, label: str, note: str) -> str:
    lines = [f"<b>{plain(view.id)}</b>", f"{plain(view.op)} · {plain(label)}"]
    if note:
        lines.append(wrapped(note))
    return "<br>".join(lines)


def wrapped(text: str, length: int = 70) -> str:
    """The text, escaped, in lines of about that many characters."""
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + len(word) + 1 > length:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return "<br>".join(plain(part) for part in [*lines, line] if part)
