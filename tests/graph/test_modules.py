from __future__ import annotations

import onnx_ir as ir
import pytest

from core.graph.modules import module_path, read_module


@pytest.mark.parametrize(
    ("name", "op_type", "path"),
    [
        ("/stage1/stage1.0/conv1/Conv", "Conv", ("stage1", "0", "conv1")),
        ("/encoder/layer.1/attention/self/MatMul_2", "MatMul", ("encoder", "layer.1", "attention", "self")),
        ("/model/model.0/auto_model/embeddings/Add", "Add", ("model", "0", "auto_model", "embeddings")),
        ("StatefulPartitionedCall/net/block1/conv/Conv2D", "Conv", ("net", "block1", "conv")),
        ("/layer/Conv_output_0", "Conv", ("layer",)),
        ("stage1.block0.conv1", "Conv", ("stage1", "block0", "conv1")),
        ("p2o.Conv.12", "Conv", ()),
        ("Conv_3", "Conv", ()),
        ("node_conv2d_1", "Conv", ()),
        ("/Relu", "Relu", ()),
        ("", "Conv", ()),
    ],
)
def test_the_path_of_modules_is_read_from_the_name(name: str, op_type: str, path: tuple[str, ...]) -> None:
    assert module_path(name, op_type) == path


def test_the_newer_torch_exporter_keeps_the_path_in_metadata() -> None:
    scopes = {"pkg.torch.onnx.name_scopes": "['', 'layer1', 'layer1.0', 'layer1.0.conv1', 'conv2d']"}
    node = ir.Node("", "Conv", [], name="node_conv2d", metadata_props=scopes)
    assert read_module(node) == ("layer1", "0", "conv1")
    broken = ir.Node("", "Conv", [], name="a/Conv", metadata_props={"pkg.torch.onnx.name_scopes": "['"})
    assert read_module(broken) == ()
