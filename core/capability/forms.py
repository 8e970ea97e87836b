"""Forms: how an operator is written in each precision, as a model of its own with what it is fed.

The borders are inside the number type where the runtime takes it: an int8 form reads u8 and gives u8, so that its time
is the kernel's alone. Where a precision can be written in several ways, all are given, and the best one counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import onnx_ir as ir

from core.capability.building import GraphBuilder
from core.capability.drawn import random_activation, random_weight, unrounded
from core.capability.dynamic_forms import dynamic_form
from core.capability.operators import Activation, Array, OneOperator, Weight
from core.capability.rounding import Code, Rounding, fp8_code, u8_code, u16_code
from core.capability.stored_forms import stored_forms
from core.recipe.precision import Precision
from core.transform.affine import REDUCED_WEIGHT_LIMIT, WEIGHT_LIMIT


@dataclass(frozen=True)
class Form:
    """A model of one operator, its feed (input name -> array), and in words what is special about it.

    `code` is that of its results where they are rounded.
    """

    model: ir.Model
    feed: Mapping[str, Array]
    note: str = ""
    code: Code | None = None

    def values(self, result: Array) -> Array:
        """What a result stands for, in fp32."""
        return result.astype(np.float32) if self.code is None else self.code.decode(result)


@dataclass(frozen=True, slots=True)
class NoForm:
    """Why an operator cannot be written in a precision at all."""

    why: str


def forms(operator: OneOperator, precision: Precision, *, saturates: bool = False) -> tuple[Form, ...] | NoForm:
    """All ways to write an operator in a precision.

    Args:
        operator: what is written.
        precision: how its numbers are stored and multiplied.
        saturates: whether 8-bit weights must keep to 7 bits here.
    """
    limit = REDUCED_WEIGHT_LIMIT if saturates else WEIGHT_LIMIT
    plain = {Precision.FP32: np.float32, Precision.FP16: np.float16, Precision.BF16: ml_dtypes.bfloat16}
    if precision in plain:
        return (_form(partial(_plain, operator, np.dtype(plain[precision]))),)
    if precision in (Precision.INT8_WEIGHTS, Precision.INT4_WEIGHTS):
        if not operator.lowered:
            return NoForm(f"{operator.op_type} has no weights that could be stored in fewer bits")
        bits = 8 if precision is Precision.INT8_WEIGHTS else 4
        return tuple(_form(build, note) for note, build in stored_forms(operator, bits))
    if precision is Precision.INT8_DYNAMIC:
        if not operator.activations:
            return NoForm(f"{operator.op_type} reads no activations that could be rounded while it runs")
        return (_form(partial(dynamic_form, operator, limit)),)
    codes: dict[Precision, Callable[[float, float], Code]] = {
        Precision.INT8: u8_code,
        Precision.A16W8: u16_code,
        Precision.FP8: fp8_code,
    }
    of_result = None if _gives_floats(operator, precision) else codes[precision](operator.low, operator.high)
    return (_form(partial(_rounded, operator, codes[precision](-1.0, 1.0), of_result, limit), code=of_result),)


def _form(build: Callable[[GraphBuilder], ir.Model], note: str = "", code: Code | None = None) -> Form:
    graph = GraphBuilder()
    model = build(graph)
    return Form(model, graph.feed, note, code)


def _gives_floats(operator: OneOperator, precision: Precision) -> bool:
    return operator.float_output and precision is Precision.INT8


def _plain(operator: OneOperator, dtype: np.dtype[Any], graph: GraphBuilder) -> ir.Model:
    reads = [unrounded(graph, operand, dtype, seed) for seed, operand in enumerate(operator.operands)]
    (result,) = graph.node(operator.op_type, reads, operator.attributes)
    return graph.finish(result, ir.DataType.from_numpy(dtype))


def _rounded(
    operator: OneOperator, of_inputs: Code, of_result: Code | None, limit: int, graph: GraphBuilder
) -> ir.Model:
    """The operator between DequantizeLinear and QuantizeLinear, which the runtime fuses where it has such a kernel."""
    rounding = Rounding(graph, limit)
    reads: list[ir.Value | None] = []
    for seed, operand in enumerate(operator.operands):
        if isinstance(operand, Activation):
            given = graph.give(of_inputs.encode(random_activation(operand.shape, seed)))
            reads.append(rounding.dequantize(given, of_inputs))
        elif isinstance(operand, Weight) and operand.lowered:
            reads.append(rounding.weight(random_weight(operand, seed), operand.axis, fp8=of_inputs.is_fp8))
        else:
            reads.append(unrounded(graph, operand, np.dtype(np.float32), seed))
    (result,) = graph.node(operator.op_type, reads, operator.attributes)
    if of_result is None:
        return graph.finish(result, ir.DataType.FLOAT)
    return graph.finish(rounding.quantize(result, of_result), ir.DataType.from_numpy(of_result.dtype))
