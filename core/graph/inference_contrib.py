"""Inference of onnxruntime's own operators (com.microsoft), which ONNX knows nothing of.

Each rule says which ONNX operator a fused one computes at its core, or which input its output resembles. An operator
without a rule leaves its outputs unknown, as the file declares them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import onnx
import onnx_ir as ir

from core.graph.known import Known

if TYPE_CHECKING:
    from core.graph.inference import Inference

Rule = Callable[["Inference", ir.Node, Sequence[Known | None]], list[Known]]

_CONV_ATTRIBUTES = ("auto_pad", "dilations", "group", "kernel_shape", "pads", "strides")
_POOL_ATTRIBUTES = ("auto_pad", "ceil_mode", "count_include_pad", "kernel_shape", "pads", "strides")
_GEMM_ATTRIBUTES = ("transA", "transB")
#: Same shape and type as the first input.
_LIKE_FIRST = frozenset({
    "Gelu", "FastGelu", "BiasGelu", "QuickGelu", "LayerNormalization", "SimplifiedLayerNormalization",
    "QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax", "MultiHeadAttention", "GroupQueryAttention",
    "RotaryEmbedding", "BiasAdd", "ReorderInput", "ReorderOutput", "GroupNorm",
})  # fmt: skip
#: The first and fourth output have the shape of the first input, those between are statistics.
_SKIP_NORMS = ("SkipLayerNormalization", "SkipSimplifiedLayerNormalization")


def infer_contrib(inference: Inference, node: ir.Node) -> list[Known]:
    """What an operator outside ONNX writes, one entry per output that is known."""
    rule = _RULES.get(node.op_type)
    inputs = [None if value is None else inference.lookup(value) for value in node.inputs]
    if rule is None or not inputs:
        return _unknown(node)
    found = rule(inference, node, inputs)
    return found + _unknown(node)[len(found) :]


def _unknown(node: ir.Node) -> list[Known]:
    return [Known(onnx.TypeProto()) for _ in node.outputs]


def _like_first(_: Inference, node: ir.Node, inputs: Sequence[Known | None]) -> list[Known]:
    return [_shaped(inputs[0])]


def _skip_norm(_: Inference, node: ir.Node, inputs: Sequence[Known | None]) -> list[Known]:
    statistics = Known(onnx.TypeProto())
    return [_shaped(inputs[0]), statistics, statistics, _shaped(inputs[0])][: len(node.outputs)]


def _core(op_type: str, positions: Sequence[int], attributes: Sequence[str] = ()) -> Rule:
    """The rule "computes `op_type` on the inputs at `positions`"; the element type follows the first of them."""

    def rule(inference: Inference, node: ir.Node, inputs: Sequence[Known | None]) -> list[Known]:
        chosen = [_as_float(inputs[position]) if position < len(inputs) else None for position in positions]
        given = {name: node.attributes[name].value for name in attributes if name in node.attributes}
        found = inference.infer_operator(op_type, chosen, given)
        return [_with_element(found[0], inputs[positions[0]])]

    return rule


def _fused_matmul(inference: Inference, node: ir.Node, inputs: Sequence[Known | None]) -> list[Known]:
    sides = [
        _swapped(inputs[position]) if _flag(node, name) else inputs[position]
        for position, name in enumerate(("transA", "transB"))
    ]
    return inference.infer_operator("MatMul", sides, {})


def _matmul_n_bits(_: Inference, node: ir.Node, inputs: Sequence[Known | None]) -> list[Known]:
    shaped = _shaped(inputs[0])
    if shaped.type.tensor_type.HasField("shape"):
        shaped.type.tensor_type.shape.dim[-1].dim_value = node.attributes["N"].as_int()
    return [shaped]


def _attention(_: Inference, node: ir.Node, inputs: Sequence[Known | None]) -> list[Known]:
    """Input [batch, sequence, hidden], weights [hidden, 3 x hidden'] give [batch, sequence, hidden']."""
    shaped, weights = _shaped(inputs[0]), inputs[1]
    uneven = "qkv_hidden_sizes" in node.attributes
    if weights is not None and len(weights.type.tensor_type.shape.dim) == 2 and not uneven:
        shaped.type.tensor_type.shape.dim[-1].dim_value = weights.type.tensor_type.shape.dim[1].dim_value // 3
    past = inputs[4] if len(inputs) > 4 else None
    return [shaped] if past is None else [shaped, _grown(past, 3, shaped.type.tensor_type.shape.dim[1])]


def _grown(known: Known, axis: int, by: onnx.TensorShapeProto.Dimension) -> Known:
    """The same shape, longer by a size along one axis: a cache after one more step."""
    longer = _shaped(known)
    size = longer.type.tensor_type.shape.dim[axis]
    if size.HasField("dim_value") and by.HasField("dim_value"):
        size.dim_value += by.dim_value
    else:
        size.Clear()
    return longer


def _embed_norm(_: Inference, node: ir.Node, inputs: Sequence[Known | None]) -> list[Known]:
    """Token ids [batch, sequence] and a word table [words, hidden] give [batch, sequence, hidden]."""
    ids, words = inputs[0], inputs[2]
    if ids is None or words is None or len(words.type.tensor_type.shape.dim) != 2:
        return []
    shaped = _shaped(ids)
    shaped.type.tensor_type.elem_type = words.type.tensor_type.elem_type
    shaped.type.tensor_type.shape.dim.append(words.type.tensor_type.shape.dim[1])
    return [shaped]


def _shaped(known: Known | None) -> Known:
    kind = onnx.TypeProto()
    if known is not None:
        kind.CopyFrom(known.type)
    return Known(kind)


def _as_float(known: Known | None) -> Known | None:
    """The same shape as float32: ONNX's rules for Conv and Gemm refuse the integers of quantized operators."""
    if known is None or not known.type.HasField("tensor_type"):
        return None
    shaped = _shaped(known)
    shaped.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    return shaped


def _with_element(found: Known, like: Known | None) -> Known:
    if like is not None and found.type.HasField("tensor_type"):
        found.type.tensor_type.elem_type = like.type.tensor_type.elem_type
    return found


def _swapped(known: Known | None) -> Known | None:
    if known is None or len(known.type.tensor_type.shape.dim) < 2:
        return known
    shaped = _shaped(known)
    sizes = list(known.type.tensor_type.shape.dim)
    del shaped.type.tensor_type.shape.dim[:]
    shaped.type.tensor_type.shape.dim.extend([*sizes[:-2], sizes[-1], sizes[-2]])
    return shaped


def _flag(node: ir.Node, name: str) -> bool:
    return name in node.attributes and bool(node.attributes[name].as_int())


_RULES: dict[str, Rule] = {
    **dict.fromkeys(_LIKE_FIRST, _like_first),
    **dict.fromkeys(_SKIP_NORMS, _skip_norm),
    "FusedConv": _core("Conv", (0, 1), _CONV_ATTRIBUTES),
    "FusedGemm": _core("Gemm", (0, 1), _GEMM_ATTRIBUTES),
    "QGemm": _core("Gemm", (0, 3), _GEMM_ATTRIBUTES),
    "QLinearAdd": _core("Add", (0, 3)),
    "QLinearMul": _core("Mul", (0, 3)),
    "QLinearGlobalAveragePool": _core("GlobalAveragePool", (0,)),
    "QLinearAveragePool": _core("AveragePool", (0,), _POOL_ATTRIBUTES),
    "DynamicQuantizeMatMul": _core("MatMul", (0, 1)),
    "MatMulIntegerToFloat": _core("MatMul", (0, 1)),
    "FusedMatMul": _fused_matmul,
    "TransposeMatMul": _fused_matmul,
    "MatMulNBits": _matmul_n_bits,
    "Attention": _attention,
    "EmbedLayerNormalization": _embed_norm,
}
