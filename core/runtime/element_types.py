"""Element types of an optimized node's outputs, from the runtime's own operator schemas.

The runtime's saved graph leaves out the type of a tensor whose shape it does not know, but its schemas say which input
an output shares its type with (`QLinearConv`'s output has that of `y_zero_point`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from onnxruntime.capi import onnxruntime_pybind11_state as ort_state

_TENSOR = re.compile(r"^(?:tensor|sequence\(tensor)\((\w+)\)")
_NUMPY_NAMES = {"float": "float32", "double": "float64", "string": "str"}

#: The type that an operator writes where neither an input nor its schema settles it.
_OTHERWISE = {"QuantizeLinear": "uint8", "DynamicQuantizeLinear": "uint8", "QGemm": "float32"}
_ZERO_POINT = {"QGemm": 8}


def output_types(op_type: str, domain: str, input_types: Sequence[str], count: int) -> tuple[str, ...]:
    """Numpy names of `count` outputs, given those of the inputs; "" where the schema leaves it open."""
    schema = _schemas().get((domain, op_type))
    if schema is None:
        return ("",) * count
    bound = _bind(schema, input_types)
    declared = [output.typeStr for output in schema.outputs] or [""]
    return tuple(
        _resolve(declared[min(index, len(declared) - 1)], bound) or _otherwise(op_type, input_types)
        for index in range(count)
    )


def _bind(schema: Any, input_types: Sequence[str]) -> dict[str, str]:
    """Type variable -> numpy name."""
    declared = [entry.typeStr for entry in schema.inputs]
    bound: dict[str, str] = {}
    for index, name in enumerate(input_types):
        if name and declared:
            bound.setdefault(declared[min(index, len(declared) - 1)], name)
    for constraint in schema.type_constraints:
        if len(constraint.allowed_type_strs) == 1:
            bound.setdefault(constraint.type_param_str, _resolve(constraint.allowed_type_strs[0], {}))
    return bound


def _resolve(declared: str, bound: dict[str, str]) -> str:
    if declared in bound:
        return bound[declared]
    found = _TENSOR.match(declared)
    return _NUMPY_NAMES.get(found[1], found[1]) if found else ""


def _otherwise(op_type: str, input_types: Sequence[str]) -> str:
    position = _ZERO_POINT.get(op_type)
    if position is not None and position < len(input_types) and input_types[position]:
        return input_types[position]
    return _OTHERWISE.get(op_type, "")


@cache
def _schemas() -> dict[tuple[str, str], Any]:
    """(domain, operator) -> the newest schema."""
    schemas = sorted(ort_state.get_all_operator_schema(), key=lambda schema: int(schema.since_version))
    return {(schema.domain, schema.name): schema for schema in schemas}
