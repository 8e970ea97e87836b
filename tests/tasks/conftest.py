"""Fixtures of the tasks' tests: a workspace with a small network and its data, and a grid that needs no probing."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from core.capability.grid import CapabilityGrid
from core.store.workspace import Workspace
from core.tasks import capability

NETWORK = """
<ir_version: 8, opset_import: ["" : 17]>
network (float[batch, 3, 16, 16] x) => (float[batch, 10] y)
<float[8, 3, 3, 3] w, float[10, 8] v, float[10] b>
{
    [conv] c = Conv <pads = [1, 1, 1, 1]> (x, w)
    [relu] r = Relu (c)
    [pool] p = GlobalAveragePool (r)
    [flat] f = Flatten (p)
    [head] y = Gemm <transB = 1> (f, v, b)
}
"""


@pytest.fixture
def store(workspace_path: Path) -> Workspace:
    """An empty workspace."""
    return Workspace.open(workspace_path)


def _network() -> bytes:
    generator = np.random.default_rng(0)
    model = onnx.parser.parse_model(NETWORK)
    sizes = {"w": (8, 3, 3, 3), "v": (10, 8), "b": (10,)}
    del model.graph.initializer[:]
    for name, size in sizes.items():
        array = generator.normal(0, 0.3, size).astype(np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return bytes(model.SerializeToString())


def _data() -> bytes:
    generator = np.random.default_rng(1)
    stream = io.BytesIO()
    x = generator.normal(size=(24, 1, 3, 16, 16)).astype(np.float32)
    np.savez(stream, x=x, y=np.arange(24) % 10, __split__=np.arange(24) % 3)
    return stream.getvalue()


@pytest.fixture
def network(store: Workspace) -> dict[str, Any]:
    """Parameters that name the network and its labelled data."""
    return {
        "model": store.files.put(_network()),
        "model_name": "network",
        "origin": "a test",
        "data": store.files.put(_data(), suffix=".npz"),
        "data_name": "noise",
    }


@pytest.fixture
def unprobed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that was not asked: every operator may be tried."""
    monkeypatch.setattr(capability, "probe", lambda *arguments, **options: CapabilityGrid((), saturates=True))
