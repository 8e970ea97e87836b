"""The filter of the layer table: every word counts, choices are or-ed, and the sums are of what is shown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.layer_filter import NONE, LayerFilter, added_up, choices, matching, place_told
from dashboard.layer_views import layer_views
from tests.dashboard.deep_profile import deep_profile
from tests.dashboard.documents import inspect_document

INSPECTION = inspect_document(60)
VIEWS = layer_views(INSPECTION, deep_profile(INSPECTION))


def ids(asked: LayerFilter) -> set[str]:
    return {view.id for view in matching(VIEWS, asked)}


def test_nothing_asked_is_everything() -> None:
    assert matching(VIEWS, LayerFilter()) == VIEWS
    assert not LayerFilter(words="  ").asks


@pytest.mark.parametrize("words", ["block0 conv", "CONV block0", "  conv   BLOCK0 "])
def test_all_words_must_be_found_in_name_operator_or_module(words: str) -> None:
    found = ids(LayerFilter(words=words))
    assert found == {"stage1/block0/conv1", "stage1/block0/conv2", "stage1/block0/downsample"}


def test_kinds_are_alternatives_and_sorts_of_kinds_conditions() -> None:
    both = ids(LayerFilter(ops=("Gemm", "Softmax")))
    assert both == {"head/fc", "head/softmax"}
    assert ids(LayerFilter(ops=("Gemm", "Softmax"), limits=("memory",))) == {"head/softmax"}
    int8 = ids(LayerFilter(precisions=("int8",)))
    assert int8 == {view.id for view in VIEWS if view.precision == "int8"}
    assert int8


def test_what_is_not_known_can_be_asked_for() -> None:
    assert ids(LayerFilter(precisions=(NONE,))) == {view.id for view in VIEWS if view.precision is None}


def test_choices_name_what_there_is_the_most_frequent_first() -> None:
    found = choices(VIEWS, lambda view: view.op)
    assert found[:2] == ["Conv", "Relu"]
    assert choices(VIEWS, lambda view: view.precision)[-1] == NONE


def test_the_line_adds_up_what_is_shown() -> None:
    shown = [
        replace(VIEWS[0], ms=1.2, share=0.1),
        replace(VIEWS[1], ms=3.0, share=0.28),
        replace(VIEWS[2], ms=None, share=None),
    ]
    assert added_up(shown, 412) == "3 of 412 layers, 4.20 ms, 38.0 % of the kernel time"
    assert added_up(VIEWS[:1], 1).startswith("1 layer, ")
    assert added_up([], 5) == "0 of 5 layers"
    assert added_up([replace(VIEWS[0], ms=None)], 5) == "1 of 5 layers, time not known"


def test_the_place_of_the_chosen_layer_is_told() -> None:
    shown = [replace(VIEWS[number], ms=ms) for number, ms in ((0, 1.0), (1, 3.0), (2, 2.0))]
    assert place_told(shown, VIEWS[2].id) == f"{VIEWS[2].id}: 2.00 ms, place 2 of 3"
    assert place_told(shown, None) == ""
    assert "is not among them" in place_told(shown, "elsewhere")
    assert place_told([replace(VIEWS[0], ms=None)], VIEWS[0].id).endswith("time not known")
