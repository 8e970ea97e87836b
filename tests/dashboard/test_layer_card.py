"""The layer card and the selection behind it."""

from __future__ import annotations

from dataclasses import replace

from dashboard.layer_views import LayerView, layer_views
from dashboard.run_tables import ROW_PX, SCROLL_BAR_PX
from dashboard.run_tables import table_height as low_table_height
from dashboard.widgets.chart_touch import clicked_id
from dashboard.widgets.layer_card import facts, position, shapes, slow_names
from dashboard.widgets.layer_choice import table_height
from tests.dashboard.documents import inspect_document, profile_document

INSPECTION = inspect_document(12)
VIEWS = {view.id: view for view in layer_views(INSPECTION, profile_document(INSPECTION))}


def told(view: LayerView, *members: str) -> dict[str, str]:
    return dict(facts(view, members))


def test_a_convolution_tells_all_figures_with_units() -> None:
    found = told(VIEWS["stem/conv"], "stem/conv", "stem/relu")
    assert found["Compute"] == "9.44 MMAC"
    assert found["Reached"].endswith(" GFLOP/s")
    assert found["Shapes"] == "1x1x32x32 → 1x32x32x32"
    assert found["Fuses with"] == "stem/relu"


def test_what_does_not_apply_to_a_layer_is_left_out() -> None:
    found = told(VIEWS["head/flatten"])
    assert not {"Reached", "Weights", "Fuses with", "Runs"} & set(found)


def test_what_is_not_known_says_so() -> None:
    unknown = replace(VIEWS["stem/conv"], limited_by=None, executes_as=None, moved_bytes=None)
    found = told(unknown)
    assert found["Limited by"] == found["Executes as"] == found["Moved"] == "not known"
    assert shapes(replace(unknown, input_shapes=(None,), output_shapes=())) == "not known → not known"


def test_a_layer_in_a_loop_tells_how_often_it_runs() -> None:
    assert told(replace(VIEWS["stem/conv"], runs=2.5))["Runs"] == "2.50 times per run of the model"


def test_what_a_layer_reaches_is_told_in_words() -> None:
    known = replace(VIEWS["stem/conv"], attained=0.71, reached_gflops=92.0, precision="int8")
    found = told(known)
    assert found["Reached"] == "92.0 GFLOP/s, 71.0 % of what this machine can reach"
    assert found["Computes in"] == "int8"
    assert found["Intensity"].endswith(" FLOP/B")
    assert told(replace(known, macs=0.0))["Reached"] == "71.0 % of what this machine can reach"
    assert "Computes in" not in told(VIEWS["stem/conv"]), "an older profile does not know it"


def test_a_layer_tells_its_part_of_the_memory() -> None:
    live = replace(VIEWS["stem/conv"], live_bytes=2e6)
    assert told(live)["Memory"] == "2.00 MB of activations alive while it runs"
    held = told(replace(live, held_bytes=5e5))["Memory"]
    assert held == "2.00 MB of activations alive while it runs, its outputs hold 500 KB of the peak"
    assert "Memory" not in told(VIEWS["stem/conv"])


def test_a_layer_whose_branch_was_not_taken_says_so() -> None:
    assert told(replace(VIEWS["stem/conv"], runs=0))["Runs"] == "not in these runs"


def test_the_place_of_a_layer_is_told() -> None:
    assert position(VIEWS["stage1/block0/conv1"]) == "layer 3 in stage1/block0"


def test_a_click_names_the_layer_of_a_cell_or_an_area() -> None:
    assert clicked_id({"cell": "stem/conv", "area": None}) == "stem/conv"
    assert clicked_id({"cell": None, "area": "l:stem/conv"}) == "l:stem/conv"
    assert clicked_id({"cell": None, "area": None}) is None
    assert clicked_id(None) is None


def test_a_short_table_is_no_higher_than_its_rows() -> None:
    assert table_height(2, 400) < table_height(5, 400) < table_height(500, 400) == 400


def test_a_table_has_room_for_its_bar_to_scroll_sideways_below_the_last_row() -> None:
    assert table_height(3, 400) >= 4 * 35 + SCROLL_BAR_PX
    assert low_table_height(3, 400) >= 3 * ROW_PX + 32 + SCROLL_BAR_PX
    assert low_table_height(500, 400) == 400


def renamed(*names: str, op: str = "Conv") -> list[LayerView]:
    return [replace(VIEWS["stem/conv"], id=name, op=op) for name in names]


def test_the_slowest_layers_are_told_apart_by_their_names() -> None:
    views = renamed("/stage1/0/conv1/Conv", "/stage1/1/conv1/Conv", "/stage2/1/conv1/Conv", "/stem/Conv")
    assert slow_names(views, views) == ["0/conv1", "stage1/1/conv1", "stage2/1/conv1", "stem"]


def test_long_names_are_cut_only_where_they_stay_apart() -> None:
    long = "a_module_with_a_long_name/"
    views = renamed(f"{long}x1/{long}", f"{long}x2/{long}")
    assert len(set(slow_names(views, views))) == 2
    lone = renamed(f"{long}{long}first")
    assert len(slow_names(lone, lone)[0]) <= 26


def test_where_a_cut_in_the_middle_makes_two_alike_the_ends_are_kept() -> None:
    start = "If_0_else_branch__Inline_0__/"
    views = renamed(*(f"{first}encoder/{n}/reparam_conv" for first in (start, "x/") for n in (0, 1)))
    assert slow_names(views[:2], views) == ["…__/encoder/0/reparam_conv", "…__/encoder/1/reparam_conv"]
