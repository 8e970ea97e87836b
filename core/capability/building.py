"""Building a graph of one operator and what it needs around it, value by value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx_ir as ir

OPSET = 21
IR_VERSION = 10
MICROSOFT = "com.microsoft"

Array = np.ndarray[Any, np.dtype[Any]]


class GraphBuilder:
    """Collects the inputs, stored tensors and nodes of a small model."""

    def __init__(self) -> None:
        self._inputs: list[ir.Value] = []
        self._stored: list[ir.Value] = []
        self._nodes: list[ir.Node] = []
        self.feed: dict[str, Array] = {}

    def give(self, array: Array) -> ir.Value:
        """An input that is fed this array."""
        name = f"x{len(self._inputs)}"
        self.feed[name] = array
        value = ir.Value(
            name=name, type=ir.TensorType(ir.DataType.from_numpy(array.dtype)), shape=ir.Shape(array.shape)
        )
        self._inputs.append(value)
        return value

    def store(self, array: Array | np.generic) -> ir.Value:
        """A stored tensor."""
        kept = np.asarray(array)
        name = f"stored{len(self._stored)}"
        tensor = ir.tensor(kept, name=name)
        value = ir.Value(name=name, type=ir.TensorType(tensor.dtype), shape=ir.Shape(kept.shape), const_value=tensor)
        self._stored.append(value)
        return value

    def node(
        self,
        op_type: str,
        reads: Sequence[ir.Value | None],
        attributes: Mapping[str, Any] | None = None,
        *,
        domain: str = "",
        outputs: int = 1,
    ) -> tuple[ir.Value, ...]:
        """A node; its outputs."""
        number = len(self._nodes)
        made = ir.node(
            op_type, list(reads), dict(attributes or {}), domain=domain, num_outputs=outputs, name=f"{op_type}_{number}"
        )
        for position, value in enumerate(made.outputs):
            value.name = f"v{number}_{position}"
        self._nodes.append(made)
        return tuple(made.outputs)

    def finish(self, result: ir.Value, dtype: ir.DataType, rank: int | None = None) -> ir.Model:
        """The model that gives this value of this type."""
        result.name = "y"
        result.type = ir.TensorType(dtype)
        result.shape = None if rank is None else ir.Shape([None] * rank)
        graph = ir.Graph(
            self._inputs,
            [result],
            nodes=self._nodes,
            initializers=self._stored,
            opset_imports={"": OPSET, MICROSOFT: 1},
            name="one_operator",
        )
        return ir.Model(graph, ir_version=IR_VERSION)
