"""Does this CPU's u8 x s8 product saturate?

CPUs without VNNI multiply with vpmaddubsw, which adds two products in 16 signed bits: 255 * 127 * 2 does not fit.
Found by multiplying the largest codes and comparing with the exact sum, never by a list of CPUs.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from core.runtime.session import open_session, run_session
from core.runtime.settings import SessionSettings

_DEPTH = 64
_WIDTH = 32


def saturates(settings: SessionSettings) -> bool:
    """Whether a product of u8 activations and 8-bit s8 weights loses its upper end here."""
    session = open_session(ir.to_proto(_extreme_product()).SerializeToString(), settings)
    result = run_session(session, {"x": np.full((8, _DEPTH), 255, dtype=np.uint8)})["y"]
    return not bool(np.all(result == 255 * 127 * _DEPTH))


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
