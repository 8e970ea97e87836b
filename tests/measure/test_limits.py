from __future__ import annotations

import pytest

from core.measure.events import KernelEvent, Shapes
from core.measure.limits import limited_by, measured_macs


@pytest.mark.parametrize(
    ("ms", "executions", "macs", "moved", "expected"),
    [
        (1.0, 1, 40_000, 10_000, "compute"),
        (1.0, 1, 39_999, 10_000, "memory"),
        (1.0, 1, 0, 10_000, "memory"),
        (0.009, 1, 40_000, 10_000, "overhead"),
        (0.5, 100, 40_000, 10_000, "overhead"),
        (1.0, 1, None, 10_000, None),
        (1.0, 1, 40_000, None, None),
        (0.0, 0, 40_000, 10_000, None),
    ],
)
def test_a_layer_is_bound_by_overhead_arithmetic_or_memory(
    ms: float, executions: float, macs: int | None, moved: int | None, expected: str | None
) -> None:
    assert limited_by(ms, executions, macs, moved) == expected


def _kernel(inputs: Shapes, output: tuple[int, ...]) -> KernelEvent:
    return KernelEvent("k", "op", None, 1.0, 0, inputs, (output,))


def test_arithmetic_is_counted_from_the_shapes_of_a_run() -> None:
    conv = _kernel(((1, 8, 5, 5), (16, 8, 3, 3)), (1, 16, 5, 5))
    assert measured_macs("Conv", conv) == 16 * 25 * 8 * 9
    assert measured_macs("MatMul", _kernel(((2, 3, 4), (4, 5)), (2, 3, 5))) == 2 * 3 * 5 * 4
    assert measured_macs("Relu", conv) is None
    assert measured_macs("Conv", _kernel(((1, 8),), (1, 8))) is None
