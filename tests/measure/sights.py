"""Made-up sights for the tests of the advice: an even model of five layers, changed where a test says so."""

from __future__ import annotations

from typing import Any

from core.measure.advice import advise
from core.measure.advised import Advice
from core.measure.seen import Seen, SeenKernel, SeenLayer

NOTHING = {"reorder": 0.0, "quantize": 0.0, "cast": 0.0, "copy": 0.0, "unattributed": 0.0}
EVEN = tuple(SeenLayer(f"layer{number}", "Conv", 2.0, "compute", precision="fp32") for number in range(5))


def sight(**changes: Any) -> Seen:
    """10 ms in five equal convolutions; nothing to advise."""
    return Seen(**{"kernel_ms": 10.0, "layers": EVEN, "buckets": NOTHING, "runs": 50, "wall_ms": 10.5, **changes})


def rules(**changes: Any) -> list[str]:
    """The rules that fire."""
    return [advice.rule for advice in advise(sight(**changes))]


def only(**changes: Any) -> Advice:
    """The one that fires."""
    (advice,) = advise(sight(**changes))
    return advice


def chain(*parts: tuple[str, str | None, float], own: bool = False) -> tuple[SeenKernel, ...]:
    """Kernels one after the other from (operator, precision, ms): conversions have none, layers are named by place.

    `own`: the conversions are nodes of the file, hence layers.
    """
    made = []
    for place, (op, precision, ms) in enumerate(parts):
        kernel = SeenKernel(
            op=op,
            ms=ms,
            layers=(f"{op}{place}",) if precision or own else (),
            bucket=None if precision or own else "quantize",
            precision=precision,
            reads=(f"t{place}",),
            writes=(f"t{place + 1}",),
            types=("uint8", "uint8") if precision == "int8" else ("float32", "float32"),
            ends=place in (0, len(parts) - 1),
        )
        made.append(kernel)
    return tuple(made)


def layers_of(kernels: tuple[SeenKernel, ...], op: str = "Conv") -> tuple[SeenLayer, ...]:
    """A layer for each kernel that is one."""
    return tuple(
        SeenLayer(kernel.layers[0], kernel.op if kernel.converts else op, kernel.ms, precision=kernel.precision)
        for kernel in kernels
        if kernel.layers
    )
