"""Activations: which nodes behind a value form one activation function, written as one operator or as a chain.

Exporters decompose: `x * Sigmoid(x)` (SiLU), `x * HardSigmoid(x)` or `x * Clip(x + 3, 0, 6) / 6` (hard swish),
`x * (1 + Erf(x / sqrt 2)) * 0.5` (GELU). Such a chain starts at one value, reads only it and scalars, and ends in one.
"""

from __future__ import annotations

import onnx_ir as ir

from core.graph.constants import constant_tensor, is_constant_value

SINGLE = frozenset({
    "Relu", "Clip", "LeakyRelu", "Sigmoid", "Tanh", "HardSigmoid", "HardSwish", "Gelu", "FastGelu", "QuickGelu",
    "BiasGelu", "Mish",
})  # fmt: skip
_CHAIN = frozenset({
    "Sigmoid", "HardSigmoid", "Tanh", "Softplus", "Erf", "Clip", "Relu", "Add", "Sub", "Mul", "Div", "Pow", "Min",
    "Max",
})  # fmt: skip
_CURVES = frozenset({
    "Sigmoid", "HardSigmoid", "Tanh", "Softplus", "Erf", "Clip", "Relu",
})  # fmt: skip
_LONGEST_CHAIN = 8
_RUNTIME_DOMAINS = ("", "com.microsoft")


def find_activation(value: ir.Value) -> tuple[ir.Node, ...]:
    """The nodes that apply one activation function to a value; empty where something else follows.

    No value between them is read elsewhere or is an output of the graph, and all are in the value's own graph.
    """
    readers = _readers(value)
    if readers is None:
        return ()
    if len(readers) == 1 and readers[0].op_type in SINGLE and readers[0].domain in _RUNTIME_DOMAINS:
        return (readers[0],) if reads_only(readers[0], value) else ()
    return _closed_chain(value, readers) if len(readers) > 1 else ()


def sole_reader(value: ir.Value) -> ir.Node | None:
    """The one node that reads a value, if nothing else does and the value is no output of its graph."""
    readers = _readers(value)
    return readers[0] if readers is not None and len(readers) == 1 and len(value.uses()) == 1 else None


def reads_only(node: ir.Node, value: ir.Value) -> bool:
    """Whether all that a node reads besides a value is stored in the model."""
    return all(read is None or read is value or is_constant_value(read) for read in node.inputs)


def _readers(value: ir.Value) -> list[ir.Node] | None:
    """The different nodes that read a value; None where it leaves its graph or a nested graph reads it."""
    readers: list[ir.Node] = []
    for node, _ in value.uses():
        if node not in readers:
            readers.append(node)
    producer = value.producer()
    home = producer.graph if producer is not None else value.graph
    if value.is_graph_output() or any(node.graph is not home for node in readers):
        return None
    return readers


def _closed_chain(start: ir.Value, readers: list[ir.Node]) -> tuple[ir.Node, ...]:
    """Grows from a value over element-wise operators until a single value is left open; empty if that never happens."""
    chain: list[ir.Node] = []
    inner: list[ir.Value] = [start]
    waiting = list(readers)
    while waiting and len(chain) < _LONGEST_CHAIN:
        node = next((node for node in waiting if _is_ready(node, inner)), None)
        if node is None:
            return ()
        waiting.remove(node)
        chain.append(node)
        output = node.outputs[0]
        following = _readers(output)
        if not waiting:
            return _with_last_factor(chain, output)
        if not following:
            return ()
        inner.append(output)
        waiting.extend(reader for reader in following if reader not in waiting)
    return ()


def _is_ready(node: ir.Node, inner: list[ir.Value]) -> bool:
    if node.op_type not in _CHAIN or node.domain != "":
        return False
    return all(read is None or any(read is value for value in inner) or is_scalar(read) for read in node.inputs)


def is_scalar(value: ir.Value) -> bool:
    """Whether a value is a stored single number."""
    tensor = constant_tensor(value)
    return tensor is not None and tensor.size == 1


def _with_last_factor(chain: list[ir.Node], output: ir.Value) -> tuple[ir.Node, ...]:
    """The chain if it is an activation, with the closing `* 0.5` or `/ 6` that some exporters put behind it."""
    if chain[-1].op_type != "Mul" or not any(node.op_type in _CURVES for node in chain):
        return ()
    following = sole_reader(output)
    unscaled = not any(_is_scaling(node) for node in chain if not _feeds_erf(node))
    if following is not None and unscaled and _is_scaling(following) and _needs_factor(chain):
        return (*chain, following)
    return tuple(chain)


def _is_scaling(node: ir.Node) -> bool:
    return node.op_type in ("Mul", "Div") and any(read is not None and is_scalar(read) for read in node.inputs)


def _feeds_erf(node: ir.Node) -> bool:
    return any(reader.op_type == "Erf" for reader, _ in node.outputs[0].uses())


def _needs_factor(chain: list[ir.Node]) -> bool:
    """GELU by Erf ends with * 0.5, hard swish by Clip(0, 6) with / 6."""
    return any(node.op_type in ("Erf", "Clip") for node in chain)
