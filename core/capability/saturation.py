"""Does this CPU's u8 x s8 product saturate?

CPUs without VNNI multiply with vpmaddubsw, which adds two products in 16 signed bits: 255 * 127 * 2 does not fit.
Found by multiplying the largest codes and comparing with the exact sum, never by a list of CPUs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir

from core.runtime.session import open_session, run_session
from core.runtime.settings import SessionSettings
from core.transform.affine import REDUCED_WEIGHT_LIMIT
from core.transform.place import is_depthwise
from core.transform.values import LAYER

_DEPTH = 64
_WIDTH = 32
_PRODUCTS = ("Conv", "Gemm", "MatMul")


def saturates(settings: SessionSettings) -> bool:
    """Whether a product of u8 activations and 8-bit s8 weights loses its upper end here."""
    session = open_session(ir.to_proto(_extreme_product()).SerializeToString(), settings)
    result = run_session(session, {"x": np.full((8, _DEPTH), 255, dtype=np.uint8)})["y"]
    return not bool(np.all(result == 255 * 127 * _DEPTH))


def saturable_layers(model: ir.Model) -> tuple[str, ...]:
    """Names of the nodes whose stored weights use all 8 bits, so that their u8 x s8 products can saturate.

    Depthwise convolutions are not among them: their kernel sums in 32 bits.
    """
    found = []
    for node in model.graph.all_nodes():
        if node.op_type not in _PRODUCTS or len(node.inputs) < 2:
            continue
        codes = _stored_codes(node.inputs[1])
        if (
            codes is not None
            and not is_depthwise(node, codes)
            and np.abs(codes.astype(np.int16)).max(initial=0) > (REDUCED_WEIGHT_LIMIT)
        ):
            found.append(node.metadata_props.get(LAYER) or node.name or node.op_type)
    return tuple(found)


def _stored_codes(weight: ir.Value | None) -> np.ndarray[Any, np.dtype[Any]] | None:
    """The s8 codes behind a weight's DequantizeLinear; None where it is stored otherwise."""
    producer = None if weight is None else weight.producer()
    if producer is None or producer.op_type != "DequantizeLinear" or producer.inputs[0] is None:
        return None
    stored = producer.inputs[0].const_value
    if stored is None or stored.dtype != ir.DataType.INT8:
        return None
    return np.asarray(stored.numpy())


def _extreme_product() -> ir.Model:
    weight = ir.tensor(np.full((_DEPTH, _WIDTH), 127, dtype=np.int8), name="w")
    stored = ir.Value(
        name="w", type=ir.TensorType(ir.DataType.INT8), shape=ir.Shape([_DEPTH, _WIDTH]), const_value=weight
    )
    given = ir.Value(name="x", type=ir.TensorType(ir.DataType.UINT8), shape=ir.Shape([8, _DEPTH]))
    node = ir.node("MatMulInteger", [given, stored], name="product")
    node.outputs[0].name = "y"
    node.outputs[0].type = ir.TensorType(ir.DataType.INT32)
    graph = ir.Graph([given], node.outputs, nodes=[node], initializers=[stored], opset_imports={"": 17}, name="extreme")
    return ir.Model(graph, ir_version=9)
