"""Pieces of maps: module names without what all share, texts only where they fit."""

from __future__ import annotations

from dashboard.figures import graph_map
from dashboard.figures.fold import fold_layout
from dashboard.figures.heat_map import heat_map
from dashboard.figures.theme import LIGHT
from dashboard.layer_views import layer_views, measure
from tests.dashboard.documents import inspect_document


def names(prefix: str) -> list[str]:
    inspection = inspect_document(60, prefix=prefix)
    figure = heat_map(layer_views(inspection), inspection["layout"], measure("macs"), LIGHT)
    return [text for trace in figure.data if trace.type == "scatter" and trace.mode == "text" for text in trace.text]


def test_module_names_leave_out_what_all_layers_share() -> None:
    assert names("") == names("model/backbone/")
    assert "stem" in names("")


def test_texts_are_left_out_where_a_cell_has_no_room() -> None:
    wide = fold_layout(inspect_document(12)["layout"])
    inks = ["#000000"]
    assert graph_map.texts_that_fit(wide, ["Conv"], inks, width=800, lane=30)["text"] == ["Conv"]
    assert graph_map.texts_that_fit(wide, ["Conv"], inks, width=100, lane=30) == {}
    assert graph_map.texts_that_fit(wide, ["Conv"], inks, width=800, lane=9) == {}


def test_a_long_operator_is_cut_to_its_cell() -> None:
    fold = fold_layout(inspect_document(60)["layout"])
    room = graph_map.letters_per_cell(fold, 720)
    (text,) = graph_map.texts_that_fit(fold, ["GlobalAveragePool"], ["#000000"], width=720, lane=30)["text"]
    assert len(text) == room < len("GlobalAveragePool")
