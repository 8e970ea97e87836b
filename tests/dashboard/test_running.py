"""How it runs: what the chip says, and what editing the outputs gives."""

from __future__ import annotations

import pytest

from core.errors import RequestError
from dashboard.running import COUNTS, WEIGHT, line, read_rows, rows, weighted

NAMES = ("boxes", "scores", "mask")


def test_the_chip_tells_threads_and_the_rest_only_where_it_was_chosen() -> None:
    assert line(threads=1, batch=1, outputs={}, known=3) == "1 thread"
    assert line(threads=2, batch=8, outputs={"boxes": 2.0}, known=3) == "2 threads, batch 8, 1 of 3 outputs"


def test_weights_are_told_where_they_are_not_one() -> None:
    assert weighted({"boxes": 2.0, "scores": 1.0}) == "boxes (weight 2), scores"


def test_without_a_choice_all_outputs_count_the_same() -> None:
    assert [(row[COUNTS], row[WEIGHT]) for row in rows(NAMES, {})] == [(True, 1.0)] * 3
    assert read_rows(NAMES, {}, {}) == {}


def test_edits_change_what_was_chosen_before() -> None:
    chosen = read_rows(NAMES, {}, {0: {WEIGHT: 2.0}, 2: {COUNTS: False}})
    assert chosen == {"boxes": 2.0, "scores": 1.0}
    assert read_rows(NAMES, chosen, {2: {COUNTS: True}}) == {"boxes": 2.0, "scores": 1.0, "mask": 1.0}
    assert read_rows(NAMES, chosen, {0: {WEIGHT: 1.0}, 2: {COUNTS: True}}) == {}


def test_an_empty_choice_and_a_weight_of_nothing_are_refused() -> None:
    with pytest.raises(RequestError, match="No output is left"):
        read_rows(("y",), {}, {0: {COUNTS: False}})
    for weight in (0.0, -1.0, None):
        with pytest.raises(RequestError, match="weight of output 'boxes'"):
            read_rows(NAMES, {}, {0: {WEIGHT: weight}})
