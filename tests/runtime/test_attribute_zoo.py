"""Read-back of real models: every kernel has an owner, and arithmetic is found exactly once."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.intake.load import load_model
from core.runtime.attribute import read_executed
from core.runtime.claims import family
from core.runtime.settings import SessionSettings
from core.runtime.tags import tag_model

MODELS = (
    "silero_vad",
    "ppocr_cls",
    "ppocrv6_rec_tiny",
    "efficientnet_lite0_qdq_pc",
    "magika_v3_3",
    "genai_tiny_gpt2_fp16",
    "onnx_light_shufflenet",
    "optimum_tiny_model",
    "poly_loop",
    "edge_local_function",
    "mnist_cnn",
    "romanizer_decoder",
    "genai_tiny_gpt2_fp32",
    "genai_tiny_lfm2_fp32",
    "superres_espcn",
    "ultraface_rfb320",
    "thai_attacut_sc",
    "poly_residual_block",
    "poly_qdq_conv",
    "poly_sparse_conv",
    "poly_constant_fold_bloater",
    "ogs_lstm",
    "ogs_initializer_is_output",
    "ort_logreg_iris",
    "node_loop11",
    "node_if",
    "node_scan9_sum",
    "bad_not_sorted",
    "edge_html_names",
    "edge_same_node_names",
    "edge_unnamed_nodes",
    "edge_zero_dim",
)

#: The runtime turns scaling in its own layout into a depthwise Conv kernel.
SCALING = {"Mul", "BatchNormalization"}


@pytest.mark.zoo
@pytest.mark.parametrize("name", MODELS)
def test_every_kernel_of_a_real_model_has_an_owner(zoo: Path, name: str) -> None:
    model = load_model(zoo / "models" / f"{name}.onnx")
    graph = read_executed(model.ir, SessionSettings())
    assert [node.name for node in graph.nodes if node.bucket == "unattributed"] == []
    sources = {node.layer: node for node in tag_model(model.ir).nodes}
    for layer, node in sources.items():
        kind = family(node.op_type)
        if layer is not None and kind is not None and node.computed:
            kernels = [kernel.op_type for kernel in graph.of_layer(layer)]
            assert len([kernel for kernel in kernels if family(kernel) == kind]) == 1, (layer, kernels)
    for kernel in graph.nodes:
        if family(kernel.op_type) is not None:
            held = {sources[layer].op_type for layer in kernel.layers}
            assert any(family(op) == family(kernel.op_type) for op in held) or held <= SCALING, kernel
