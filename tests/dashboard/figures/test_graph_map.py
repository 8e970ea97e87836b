"""Pieces of maps: module names without what all share, texts only where they fit."""

from __future__ import annotations

from dashboard.figures import graph_map
from dashboard.figures.fold import CELL_HEIGHT, CELL_WIDTH, fold_layout
from dashboard.figures.heat_map import heat_map
from dashboard.figures.theme import LIGHT
from dashboard.figures.unfold import MODULE
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


def test_a_cut_name_keeps_the_number_at_its_end() -> None:
    fold = fold_layout({"nodes": [{"layer": "a", "x": 0, "y": 0}], "edges": []}, width=38, height=100)
    room = graph_map.letters_per_cell(fold, 38)
    found = graph_map.texts_that_fit(fold, ["stage118", "Sigmoid"], ["#000", "#000"], width=38, lane=30)["text"]
    assert room == 4
    assert found == ["…118", "S…id"]


def test_modules_have_a_border_that_layers_have_not() -> None:
    fold = fold_layout({"nodes": [{"layer": "a", "x": 0, "y": 0}], "edges": []}, width=400, height=100)
    line = graph_map.border(fold, LIGHT, 400, [f"{MODULE}stage", "a"])
    assert line["width"][0] > line["width"][1]
    assert line["color"][0] != line["color"][1]


def test_the_frame_of_a_cell_is_a_little_outside_it() -> None:
    fold = fold_layout({"nodes": [{"layer": "a", "x": 0, "y": 0}], "edges": []}, width=400, height=100)
    left, right, top, bottom = graph_map.cell_box(fold, "a")
    x, y = fold.places["a"]
    assert left < x - CELL_WIDTH / 2 < x + CELL_WIDTH / 2 < right
    assert top < y - CELL_HEIGHT / 2 < y + CELL_HEIGHT / 2 < bottom
