"""Constants: the stored array behind a value, however the exporter wrote it.

Weights come as initializers, as `Constant` nodes, as `Identity` of either, and from an outer graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir


def constant_tensor(value: ir.Value | None) -> ir.TensorProtocol | None:
    """The tensor behind a value without reading its bytes, or None where the value is computed or given at run time."""
    while value is not None:
        if value.is_initializer():
            return None if value.is_graph_input() else value.const_value
        producer = value.producer()
        if producer is None or producer.domain != "":
            return None
        if producer.op_type == "Constant":
            return None if "sparse_value" in producer.attributes else ir.convenience.get_const_tensor(value)
        if producer.op_type != "Identity":
            return None
        value = producer.inputs[0]
    return None


def constant_array(value: ir.Value | None) -> np.ndarray[Any, np.dtype[Any]] | None:
    """The array behind a value, or None where the value is computed or given at run time."""
    tensor = constant_tensor(value)
    return None if tensor is None else tensor.numpy()


def is_constant_value(value: ir.Value | None) -> bool:
    """Whether a value is stored in the model."""
    return constant_tensor(value) is not None
