"""Kernels of one run: lanes by container, no time lost where short ones are put together."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard.figures.kernels import around, spans, whole_ms
from tests.dashboard.deep_profile import deep_profile, kernel
from tests.dashboard.documents import inspect_document


def run(*kernels: dict[str, Any], ms: float = 10.0) -> dict[str, Any]:
    return {"ms": ms, "kernels": list(kernels), "omitted": 0}


LOOP = kernel("loop", "Loop", 1.0, 0.5, layers=["loop"], span_ms=6.0)
BODY = [kernel(f"add{n}", "Add", 1.5 + n, 0.4, layers=["loop/add"], container="loop") for n in range(4)]
INNER = kernel("inner", "Mul", 1.6, 0.1, layers=["loop/if/mul"], container="loop/if")
IF = kernel("if", "If", 1.55, 0.1, layers=["loop/if"], span_ms=0.3, container="loop")


def test_what_runs_inside_a_container_lies_below_it() -> None:
    found = spans(run(LOOP, *BODY, IF, INNER))
    lanes = {span.name: span.lane for span in found}
    assert (lanes["loop"], lanes["add0"], lanes["if"], lanes["inner"]) == (0, 1, 1, 2)
    loop = next(span for span in found if span.name == "loop")
    assert (loop.end_ms - loop.start_ms, loop.own_ms) == (6.0, 0.5)


def test_containers_that_name_each_other_do_not_hang() -> None:
    wrong = [kernel("a", "If", 0, 1, layers=["a"], container="b"), kernel("b", "If", 0, 1, layers=["b"], container="a")]
    assert len(spans(run(*wrong))) == 2


@pytest.mark.parametrize("parts", [1, 7, 100, 100_000])
def test_however_few_parts_are_told_apart_no_time_and_no_kernel_is_lost(parts: int) -> None:
    document = deep_profile(inspect_document(300))
    kernels = document["timeline"]["kernels"]
    found = spans(document["timeline"], parts=parts)
    assert sum(span.count for span in found) == len(kernels)
    assert sum(span.own_ms for span in found) == pytest.approx(sum(row["ms"] for row in kernels))
    assert sum(span.own_ms for span in found if span.bucket) == pytest.approx(document["buckets"]["reorder"])
    assert len(found) <= min(len(kernels), 2 * 2 * parts + 2)
    assert all(0 <= span.low <= span.high <= 1 for span in found)


def test_ten_thousand_kernels_become_no_more_spans_than_can_be_seen() -> None:
    many = [kernel(f"k{n}", "Add", n * 0.01, 0.008, bucket="copy" if n % 2 else None) for n in range(10_000)]
    found = spans(run(*many, ms=100.0), parts=500)
    assert 500 <= len(found) <= 2000
    assert max(span.end_ms - span.start_ms for span in found) <= 100 / 500 + 1e-9
    near = spans(run(*many, ms=100.0), (10.0, 11.0), parts=500)
    assert all(span.count == 1 for span in near), "closer by, each is seen again"
    assert {span.name for span in near} == {f"k{n}" for n in range(1000, 1101)}


def test_short_kernels_together_are_as_high_as_they_take_of_their_stretch() -> None:
    rows = [
        kernel("a", "Add", 0.0, 0.2),
        kernel("b", "Reorder", 0.2, 0.1, bucket="reorder"),
        kernel("c", "Add", 0.9, 0.1),
    ]
    layers, reorder = spans(run(*rows, ms=1.0), parts=1)
    assert (layers.start_ms, layers.end_ms, reorder.start_ms, reorder.end_ms) == (0.0, 1.0, 0.0, 1.0)
    assert (layers.low, layers.high) == pytest.approx((0.0, 0.3))
    assert (reorder.low, reorder.high) == pytest.approx((0.3, 0.4)), "six tenths stay free: between kernels"


def test_spans_that_are_put_together_are_called_after_the_longest() -> None:
    found = spans(run(kernel("a", "Add", 0, 0.01), kernel("b", "Mul", 0.02, 0.05, layers=["b"])), parts=1)
    assert [(span.name, span.op, span.layers, span.count) for span in found] == [("b", "Mul", ("b",), 2)]


def test_the_run_is_as_long_as_its_last_kernel_at_least() -> None:
    assert whole_ms(run(kernel("a", "Add", 9.0, 3.0))) == 12.0
    assert whole_ms(run(ms=10.0)) == 10.0
    assert whole_ms({}) == 0.0


def test_the_view_around_a_layer_holds_its_longest_kernel() -> None:
    view = around(run(kernel("a", "Add", 1.0, 0.1, layers=["x"]), kernel("b", "Add", 5.0, 0.4, layers=["x"])), "x")
    assert view is not None
    assert view[0] < 5.0
    assert view[1] > 5.4
    assert view[1] - view[0] == pytest.approx(4.0)
    assert around(run(), "x") is None
