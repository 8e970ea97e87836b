"""Profiles hold every layer against the roofline; the bytes of a layer are all that it reads and writes."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir
import pytest

from core.graph.read import read_layers
from core.intake.dataset import Dataset
from core.intake.load import load_model
from core.measure.profile import profile_model
from core.measure.roofline import Roofline
from core.runtime.settings import SessionSettings
from tests.runtime.models import parse

SLOWEST = Roofline({"fp32": 1e-9}, 1e-9)
FASTEST = Roofline({"fp32": 1e9}, 1e9)
WEIGHTS = {"w": (64, 32), "t": (500, 64)}


def rows(roofline: Roofline | None) -> dict[str, dict[str, Any]]:
    """Layer -> its row, of a look-up in a table and a product with a stored matrix."""
    text = "rows = Gather(t, ids) y = MatMul(rows, w)"
    model = parse(text, "(int64[1, 3] ids) => (float[1, 3, 32] y)")
    for name, shape in WEIGHTS.items():
        stored = ir.tensor(np.random.default_rng(0).normal(size=shape).astype(np.float32), name=name)
        value = next(each for node in model.graph for each in node.inputs if each is not None and each.name == name)
        value.const_value = stored
        model.graph.register_initializer(value)
    loaded = load_model(ir.to_proto(model).SerializeToString(), name="table")
    data = Dataset("ids", "2" * 64, False, {"ids": np.zeros((1, 1, 3), np.int64)}, None, np.full(1, 1, np.int8))
    found = profile_model(
        loaded, read_layers(loaded), data, settings=SessionSettings(), runs=4, roofline=roofline
    ).to_dict()
    assert found["roofline"] == (None if roofline is None else roofline.to_dict())
    return {row["id"]: row for row in found["layers"]}


def test_bytes_hold_the_weights_that_the_runtime_keeps_in_its_own_order_and_of_tables_the_rows_that_are_read() -> None:
    found = rows(None)
    read, written = 3 * 64 * 4, 3 * 32 * 4
    assert found["y"]["bytes"] == read + written + 64 * 32 * 4
    assert found["rows"]["bytes"] == 2 * read
    assert found["y"]["intensity"] == pytest.approx(2 * 3 * 64 * 32 / found["y"]["bytes"])
    assert found["y"]["gflops"] == pytest.approx(2 * 3 * 64 * 32 / found["y"]["ms"] / 1e6)
    assert found["y"]["attained"] is None


def test_the_share_of_the_attainable_is_that_of_this_machine() -> None:
    for row in rows(SLOWEST).values():
        assert row["attained"] == 1.0
    for row in rows(FASTEST).values():
        assert 0 < row["attained"] < 0.01
