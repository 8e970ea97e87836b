"""The heat map: colours by the figure, unknown is hatched, the selection is framed, names are not markup."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import pytest

from dashboard.figures.heat_map import heat_map, hover_text
from dashboard.figures.theme import DARK, LIGHT, heat_color
from dashboard.layer_views import MEASURES, Measure, layer_views, measure
from tests.dashboard.documents import inspect_document, profile_document


def draw(layers: int = 60, *, missing: float = 0.0, by: str = "latency", **options: Any) -> go.Figure:
    inspection = inspect_document(layers)
    views = layer_views(inspection, profile_document(inspection, missing=missing))
    return heat_map(views, inspection["layout"], measure(by), LIGHT, **options)


def bars(figure: go.Figure) -> list[go.Bar]:
    return [trace for trace in figure.data if isinstance(trace, go.Bar)]


def test_every_layer_is_a_cell_that_knows_its_id() -> None:
    inspection = inspect_document(60)
    cells = [layer for bar in bars(draw()) for layer in bar.customdata]
    assert sorted(cells) == sorted(row["id"] for row in inspection["layers"])


def test_cells_are_coloured_by_the_figure_from_zero_to_the_largest() -> None:
    inspection = inspect_document(60)
    views = layer_views(inspection, profile_document(inspection))
    figure = draw()
    top = max(view.ms or 0 for view in views)
    assert (figure.layout.coloraxis.cmin, figure.layout.coloraxis.cmax) == (0, top)
    colors = dict(zip(bars(figure)[0].customdata, bars(figure)[0].marker.color, strict=True))
    assert colors == {view.id: heat_color(LIGHT.heat, (view.ms or 0) / top) for view in views}


def test_the_legend_is_drawn_on_the_same_scale() -> None:
    figure = draw()
    (legend,) = [trace for trace in figure.data if trace.marker.coloraxis == "coloraxis"]
    assert legend.x == (None,), "it shows no point of its own"
    assert figure.layout.coloraxis.colorscale[-1] == (1, LIGHT.heat[-1][1])


def test_the_legend_has_the_unit_at_its_end() -> None:
    assert draw().layout.coloraxis.colorbar.ticktext[-1].endswith(" ms")
    assert draw(by="bytes").layout.coloraxis.colorbar.ticktext[-1].endswith("MB")


def test_layers_without_a_figure_are_hatched_and_say_so() -> None:
    known, unknown = bars(draw(missing=0.3))
    assert unknown.marker.pattern.shape == "/"
    assert all("not known" in text for text in unknown.hovertext)
    assert len(known.customdata) + len(unknown.customdata) == 60


def test_a_model_without_any_figure_is_still_drawn() -> None:
    inspection = inspect_document(12)
    figure = heat_map(layer_views(inspection), inspection["layout"], measure("latency"), DARK)
    assert len(bars(figure)) == 1


def test_the_selected_layer_is_framed_in_the_accent_colour() -> None:
    framed = draw(selected="stem/conv")
    assert framed.data[-1].line.color == LIGHT.accent
    assert len(draw(selected="no such layer").data) == len(draw().data) == len(framed.data) - 1


def test_markup_in_a_name_stays_text() -> None:
    inspection = inspect_document(12, prefix="<b>x</b>/")
    figure = heat_map(layer_views(inspection), inspection["layout"], measure("macs"), LIGHT)
    assert all("<b>x</b>" not in text.removeprefix("<b>") for bar in bars(figure) for text in bar.hovertext)
    assert bars(figure)[0].customdata[0].startswith("<b>x</b>/"), "the id itself is kept as it is"


@pytest.mark.parametrize("figure_by", MEASURES, ids=lambda known: known.key)
def test_a_hover_tells_every_figure_with_its_unit(figure_by: Measure) -> None:
    inspection = inspect_document(12)
    view = layer_views(inspection, profile_document(inspection))[0]
    text = hover_text(view, figure_by)
    assert figure_by.label in text
    assert " ms" in text
    assert "%" in text


def test_a_large_model_stays_small_enough_to_send() -> None:
    figure = draw(1100)
    assert all(bar.text is None for bar in bars(figure)), "no texts in cells that have no room for them"
    assert len(figure.to_json()) < 600_000
    assert figure.layout.height <= 480


def test_a_map_is_as_high_for_one_selection_as_for_another() -> None:
    assert draw(selected="stem/conv").layout.height == draw().layout.height


def test_backgrounds_are_transparent_so_that_the_page_shows() -> None:
    layout = draw().layout
    assert layout.paper_bgcolor == layout.plot_bgcolor == "rgba(0,0,0,0)"


def test_the_map_says_what_hatching_means_and_when_nothing_is_known() -> None:
    some = draw(missing=0.3).layout.annotations
    assert [note.text for note in some] == ["Hatched: not known"]
    assert not draw().layout.annotations
    none = draw(by="attained")
    assert [note.text for note in none.layout.annotations] == ["Of attainable: not known of any layer"]
    assert all(trace.marker.coloraxis != "coloraxis" for trace in none.data), "no scale without a figure"
