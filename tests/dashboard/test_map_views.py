"""What a map shows: how much is open at first, and what opening and collapsing a module does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.figures.precision_map import SEVERAL
from dashboard.figures.unfold import Nest, count_cells, unfold
from dashboard.kept import kept
from dashboard.layer_views import LayerView
from dashboard.map_views import (
    MOST_CELLS,
    MapView,
    closed,
    default_opened,
    details,
    opening,
    shown_alone,
    to_close,
    to_open,
)
from dashboard.module_views import module_view, shown_views
from tests.dashboard.figures.test_unfold import PATHS, document, nest


def test_a_small_model_starts_with_all_layers() -> None:
    assert default_opened(nest()) == frozenset(nest().modules)


@pytest.mark.parametrize("count", [1_000, 10_000])
def test_a_large_model_starts_collapsed(count: int) -> None:
    found = nest([f"s{n // 72}/b{n // 6}" for n in range(count)])
    assert 10 < count_cells(found, default_opened(found)) <= MOST_CELLS
    plain = nest([""] * count)
    assert 10 < count_cells(plain, default_opened(plain)) <= MOST_CELLS


def test_the_choices_of_detail_grow_to_all_layers() -> None:
    choices = details(nest())
    assert [count_cells(nest(), choice.opened) for choice in choices] == [4, 6, 8]
    assert choices[-1].label == "All 8 layers"


def test_a_module_is_opened_and_collapsed_with_all_in_it() -> None:
    view = MapView(opened=frozenset({""}))
    opened = opening(nest(), opening(nest(), view, "a"), "a/x")
    assert opened.opened == frozenset({"", "a", "a/x"})
    assert opened.last == "a/x"
    assert closed(nest(), opened, "a/x") == MapView(opened=frozenset({"", "a"}), last="a")
    assert closed(nest(), opened, "a") == MapView(opened=frozenset({""}))


def test_what_can_be_opened_and_collapsed_around_the_chosen_layer() -> None:
    found = nest()
    shown = unfold(found, document(PATHS)["layout"]["edges"], {"", "a"})
    assert to_open(shown, "1") == "a/x"
    assert to_close(found, shown, "1", None) == "a"
    assert to_open(shown, "0") is None
    assert to_close(found, shown, "0", None) is None
    assert to_close(found, shown, None, "a") == "a"


def test_modules_sum_up_their_layers() -> None:
    found = nest()
    shown = unfold(found, document(PATHS)["layout"]["edges"], {""})
    views = [
        replace(layer(n), ms=1.0 + n, macs=None if n == 1 else 10.0, precision="int8" if n < 3 else "fp32")
        for n in range(len(PATHS))
    ]
    cells = {view.id: view for view in shown_views(views, shown, found)}
    assert list(cells) == ["0", "▣ a", "▣ b", "7"]
    assert cells["▣ a"].ms == pytest.approx(2 + 3 + 4 + 5)
    assert cells["▣ a"].macs == 30
    assert cells["▣ a"].precision == SEVERAL
    assert cells["▣ b"].precision == "fp32"
    assert cells["▣ a"].share is None


def test_what_is_reached_is_the_mean_over_the_time_and_intensity_that_of_the_sums() -> None:
    views = {
        str(n): replace(layer(n), ms=ms, attained=attained, macs=macs, moved_bytes=4.0)
        for n, (ms, attained, macs) in enumerate([(1.0, 0.1, 8), (3.0, 0.5, 0), (9.0, None, 8)])
    }
    found = module_view("▣ m", "m", Nest({}, {}, {"m": ("0", "1", "2")}, {}), views)
    assert found.attained == pytest.approx((0.1 * 1 + 0.5 * 3) / 4)
    assert found.intensity == pytest.approx(2 * 16 / 12)


def test_a_layout_shown_alone_has_a_cell_per_layer() -> None:
    shown = shown_alone(document(PATHS)["layout"])
    assert not shown.modules
    assert shown.cell_of["3"] == "3"


def test_results_are_kept_by_what_they_were_made_from() -> None:
    made: list[object] = []

    @kept
    def work(given: dict[str, int], times: int) -> list[int]:
        made.append(given)
        return [given["a"] * times]

    first, equal = {"a": 1}, {"a": 1}
    assert work(first, 2) is work(first, 2)
    assert work(first, 3) == [3]
    assert work(equal, 2) == [2]
    assert len(made) == 3
    assert made[2] is equal


def layer(number: int) -> LayerView:
    return LayerView(
        id=str(number),
        index=number,
        op="Conv",
        group=str(number),
        group_kind="conv",
        module=(),
        input_shapes=(),
        output_shapes=(),
        parameters=0,
        weight_bytes=0,
        macs=None,
    )
