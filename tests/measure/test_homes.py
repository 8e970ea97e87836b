"""Every kernel has a home, whatever the runtime made of the layers: fusion, layout, folding, conversions, names."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from core.measure.spent import Ledger
from tests.measure.booking import booked, executions
from tests.runtime.models import HEADER, conv_block, parse

X4 = {"x": np.linspace(-1, 1, 4, dtype=np.float32)}


def _homeless(ledger: Ledger) -> float:
    return ledger.buckets["unattributed"].raw_ms


def _adds_up(ledger: Ledger) -> bool:
    return ledger.kernel_ms + ledger.gap_ms == pytest.approx(ledger.run_ms)


def test_a_fused_kernel_is_the_convs_and_layout_changes_are_a_bucket() -> None:
    ledger = booked(conv_block(), [{"x": np.ones((1, 16, 8, 8), np.float32)}] * 3)
    assert ledger.layers["conv1"].ms > 0
    assert ledger.layers["bn1"].ms == ledger.layers["relu1"].ms == 0
    assert set(executions(ledger)) == {"conv1", "bn1", "relu1", "conv2", "add", "y"}
    assert ledger.buckets["reorder"].ms > 0
    assert _homeless(ledger) == 0
    assert _adds_up(ledger)


def test_a_fusion_without_arithmetic_is_split_by_bytes() -> None:
    """A Gelu out of five operators on tensors of one size: a fifth each."""
    body = """
      root = Constant<value = float {1.4142135}>()
      half = Constant<value = float {0.5}>()
      one = Constant<value = float {1.0}>()
      scaled = Div(x, root)
      erf = Erf(scaled)
      plus = Add(erf, one)
      product = Mul(x, plus)
      y = Mul(product, half)
    """
    ledger = booked(parse(body, "(float[256] x) => (float[256] y)"), [{"x": np.ones(256, np.float32)}] * 2)
    assert set(ledger.layers) == {"scaled", "erf", "plus", "product", "y"}
    whole = sum(spent.ms for spent in ledger.layers.values())
    assert [spent.ms / whole for spent in ledger.layers.values()] == pytest.approx([0.2] * 5)
    assert _homeless(ledger) == 0


def test_what_is_folded_away_spends_nothing() -> None:
    body = """
      c = Constant<value = float[4] {1.0, 2.0, 3.0, 4.0}>()
      folded = Neg(c)
      more = Exp(folded)
      y = Add(x, more)
    """
    ledger = booked(parse(body, "(float[4] x) => (float[4] y)"), [X4])
    assert executions(ledger) == {"y": 1}
    assert _homeless(ledger) == 0


def test_repeated_and_missing_names_do_not_share_time() -> None:
    model = onnx.parser.parse_model(
        HEADER.format(opset=17) + "g (float[4] x) => (float[4] y) { a = Exp(x) b = Sin(a) c = Cos(b) y = Tanh(c) }"
    )
    for node, name in zip(model.graph.node, ("same", "same", "", ""), strict=True):
        node.name = name
    ledger = booked(ir.from_proto(model), [X4])
    assert len(ledger.layers) == 4
    assert set(executions(ledger).values()) == {1}
    assert _homeless(ledger) == 0


def test_half_floats_that_are_emulated_leave_their_casts_in_a_bucket() -> None:
    ledger = booked(
        parse("a = Exp(x) y = Sin(a)", "(float16[64] x) => (float16[64] y)"), [{"x": np.ones(64, np.float16)}]
    )
    assert set(executions(ledger)) == {"a", "y"}
    assert ledger.buckets["cast"].ms > 0
    assert _homeless(ledger) == 0


def test_a_functions_body_is_that_of_its_call() -> None:
    model = onnx.parser.parse_model("""
      <ir_version: 9, opset_import: ["" : 17, "local" : 1]>
      g (float[4] x) => (float[4] y) { a = local.twice(x) y = local.twice(a) }
      <domain: "local", opset_import: ["" : 17]>
      twice (p) => (r) { q = Exp(p) r = Sin(q) }
    """)
    ledger = booked(ir.from_proto(model), [X4])
    assert executions(ledger) == {"a": 1, "y": 1}
    assert _homeless(ledger) == 0
