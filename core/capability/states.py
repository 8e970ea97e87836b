"""States: what the runtime made of a one-operator model, read off its optimized graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.recipe.precision import Precision, Support
from core.runtime.executed import ExecutedNode
from core.runtime.kernel_precision import kernel_precision

_CONVERSIONS = frozenset({"Cast", "CastLike", "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"})
_LAYOUT = frozenset({"ReorderInput", "ReorderOutput"})
_FLOATS = frozenset({"float16", "float32", "float64", "bfloat16"})
#: Kernels that unpack stored weights while they work.
_UNPACKING = ("MatMulNBits", "GatherBlockQuantized", "MatMulBnb4")
_CODES = {
    Precision.INT8: frozenset({"uint8", "int8"}),
    Precision.INT8_DYNAMIC: frozenset({"uint8", "int8"}),
    Precision.A16W8: frozenset({"uint16", "int16"}),
    Precision.FP8: frozenset({"float8_e4m3fn", "float8_e5m2"}),
}


@dataclass(frozen=True, slots=True)
class State:
    """What is made of an operator, why in words, and whether the time of its model says anything about it."""

    support: Support
    why: str
    has_speed: bool


def state_of(precision: Precision, nodes: Sequence[ExecutedNode]) -> State:
    """What these kernels are to a precision.

    Executed: each kernel computes in it, or nothing is left to compute. Emulated: it runs in another type between
    casts, or on weights that are unpacked before it. Simulated: it is rounded around a kernel of floats.
    """
    kernels = [node for node in nodes if node.op_type not in _CONVERSIONS | _LAYOUT]
    ran = "runs " + ", ".join(sorted({node.op_type for node in (kernels or nodes)}))
    if precision is Precision.FP32:
        return State(Support.EXECUTED, ran, has_speed=False)
    if precision in (Precision.FP16, Precision.BF16):
        return _half_floats(str(precision), kernels, ran)
    if precision in (Precision.INT8_WEIGHTS, Precision.INT4_WEIGHTS):
        return _stored_weights(nodes, ran)
    if not kernels:
        return State(Support.EXECUTED, "vanishes into the rounding of its result", has_speed=False)
    if any(_computes_on_codes(node, _CODES[precision]) for node in kernels):
        return State(Support.EXECUTED, ran, has_speed=True)
    return State(Support.SIMULATED, f"rounding is modelled around kernels of fp32: {ran}", has_speed=False)


def _half_floats(precision: str, kernels: Sequence[ExecutedNode], ran: str) -> State:
    if all(kernel_precision(node) in (precision, None) for node in kernels):
        return State(Support.EXECUTED, f"{ran} on {precision}", has_speed=True)
    return State(Support.EMULATED, f"no {precision} kernel: {ran} in fp32 between casts", has_speed=True)


def _stored_weights(nodes: Sequence[ExecutedNode], ran: str) -> State:
    if any(node.op_type in _UNPACKING for node in nodes):
        return State(Support.EXECUTED, ran, has_speed=True)
    when = "in each run" if any(node.op_type == "DequantizeLinear" for node in nodes) else "when the model is opened"
    return State(Support.EMULATED, f"weights are unpacked to fp32 {when}: {ran}", has_speed=True)


def _computes_on_codes(node: ExecutedNode, codes: frozenset[str]) -> bool:
    types = set(node.element_types)
    moves = bool(types & codes) and not types & _FLOATS
    return moves or (kernel_precision(node) == "int8" and "int8" in codes)
