"""The precision map: one colour, letter and count for each precision, reasons in the hover, changes marked."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from dashboard.figures.precision_map import precision_map, wrapped
from dashboard.figures.theme import LIGHT, PRECISION_COLORS
from dashboard.layer_views import layer_views
from tests.dashboard.documents import build_document, inspect_document


def draw(**options: Any) -> go.Figure:
    inspection = inspect_document(60)
    rows = build_document(inspection)["layers"]
    return precision_map(
        layer_views(inspection),
        inspection["layout"],
        {row["id"]: row["executed"] for row in rows},
        LIGHT,
        notes={row["id"]: row["why"] for row in rows},
        **options,
    )


def trace(figure: go.Figure, name: str) -> go.Bar:
    (found,) = [trace for trace in figure.data if (trace.name or "").startswith(name)]
    return found


def test_a_precision_has_its_colour_its_letter_and_its_count() -> None:
    int8 = trace(draw(), "I int8")
    assert int8.marker.color == PRECISION_COLORS["int8"]
    assert int8.name == f"I int8 ({len(int8.customdata)})"
    assert set(int8.text) == {"I Conv", "I Gemm"}


def test_what_was_folded_away_is_hatched_and_has_no_letter() -> None:
    folded = trace(draw(), "folded away")
    assert folded.marker.pattern.shape == "/"
    assert set(folded.text) == {"Relu"}


def test_the_hover_says_why() -> None:
    fp32 = trace(draw(), "F fp32")
    assert any("only add conversions" in text for text in fp32.hovertext)


def test_changed_layers_are_marked_and_named_in_the_legend() -> None:
    marks = trace(draw(marked=["stem/conv", "gone"]), "changed since")
    assert len([x for x in marks.x if x is not None]) == 2


def test_an_unknown_precision_is_drawn_and_not_lost() -> None:
    inspection = inspect_document(12)
    figure = precision_map(layer_views(inspection), inspection["layout"], {"stem/conv": "int3"}, LIGHT)
    assert trace(figure, "? int3").customdata.tolist() == ["stem/conv"]


def test_long_reasons_are_broken_into_lines_and_escaped() -> None:
    text = wrapped("word " * 30 + "<i>")
    assert max(len(line) for line in text.split("<br>")) <= 70
    assert text.endswith("&lt;i&gt;")


def test_modules_of_several_precisions_and_unknown_ones_have_words_of_their_own() -> None:
    inspection = inspect_document(12)
    views = layer_views(inspection)
    kinds = ["several", "unknown", *["int8"] * (len(views) - 2)]
    precisions = {view.id: kind for view, kind in zip(views, kinds, strict=True)}
    figure = precision_map(views, inspection["layout"], precisions, LIGHT)
    named = {trace.name: trace for trace in figure.data if trace.name}
    assert "+ several (1)" in named
    assert named["not known (1)"].marker.pattern.shape == "/"
