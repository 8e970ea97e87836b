"""Layers inside If, Loop and Scan bodies: each has its own time, and is counted as often as it ran."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from core.measure.spent import Ledger
from tests.measure.booking import booked, executions
from tests.runtime.models import parse

X = {"x": np.full(64, 0.5, np.float32)}


def _unattributed(ledger: Ledger) -> float:
    return ledger.buckets["unattributed"].raw_ms if "unattributed" in ledger.buckets else 0.0


def _loop(name: str, count: str, inner: str, *, state: str = "x") -> str:
    return f"""
      {name} = Loop({count}, go, {state})<body = l (int64 i_{name}, bool c_{name}, float[64] s_{name})
        => (bool d_{name}, float[64] r_{name}) {{ d_{name} = Identity(c_{name}) {inner} }}>
    """


CONSTANTS = """
  three = Constant<value = int64 {3}>()
  four = Constant<value = int64 {4}>()
  go = Constant<value = bool {1}>()
"""


def test_loops_inside_loops_multiply() -> None:
    inner = _loop("deep", "four", "r_deep = Exp(s_deep)", state="s_y")
    body = CONSTANTS + _loop("y", "three", f"{inner} r_y = Sin(deep)")
    ledger = booked(parse(body, "(float[64] x) => (float[64] y)"), [X, X])
    assert executions(ledger) == {
        "y": 1,
        "y/body/d_y": 3,
        "y/body/deep": 3,
        "y/body/deep/body/d_deep": 12,
        "y/body/deep/body/r_deep": 12,
        "y/body/r_y": 3,
    }
    assert _unattributed(ledger) == 0


def test_two_loops_whose_bodies_bear_the_same_names_are_told_apart() -> None:
    body = (
        CONSTANTS
        + """
      a = Loop(three, go, x)<body = l (int64 i, bool c, float[64] s) => (bool d, float[64] r) {
        d = Identity(c) t = Exp(s) r = Sin(t)
      }>
      y = Loop(four, go, a)<body = m (int64 i, bool c, float[64] s) => (bool d, float[64] r) {
        d = Identity(c) t = Cos(s) r = Tanh(t)
      }>
    """
    )
    ledger = booked(parse(body, "(float[64] x) => (float[64] y)"), [X])
    assert executions(ledger) == {
        "a": 1,
        "a/body/d": 3,
        "a/body/t": 3,
        "a/body/r": 3,
        "y": 1,
        "y/body/d": 4,
        "y/body/t": 4,
        "y/body/r": 4,
    }
    assert _unattributed(ledger) == 0


def test_a_scan_runs_its_body_once_per_slice() -> None:
    body = """
      last, y = Scan<num_scan_inputs = 1, body = b (float[4] s, float[4] e) => (float[4] n, float[4] o) {
        n = Add(s, e) o = Sin(n)
      }>(start, x)
    """
    signature = "(float[4] start, float[7, 4] x) => (float[4] last, float[7, 4] y)"
    feed = {"start": np.zeros(4, np.float32), "x": np.ones((7, 4), np.float32)}
    ledger = booked(parse(body, signature), [feed])
    assert executions(ledger) == {"last": 1, "last/body/n": 7, "last/body/o": 7}
    assert _unattributed(ledger) == 0


def test_a_branch_taken_in_some_runs_counts_by_its_share() -> None:
    body = """
      flag = Greater(a, b)
      y = If(flag)<
        then_branch = t () => (float[64] u) { p = Exp(x) u = Sin(p) },
        else_branch = e () => (float[64] v) { v = Cos(x) }
      >
    """
    model = parse(body, "(float[64] x, float a, float b) => (float[64] y)")
    feeds = [{**X, "a": np.float32(a), "b": np.float32(1)} for a in (0, 2, 0, 0)]
    assert executions(booked(model, [{name: np.asarray(v) for name, v in feed.items()} for feed in feeds])) == {
        "flag": 1,
        "y": 1,
        "y/then/p": 0.25,
        "y/then/u": 0.25,
        "y/else/v": 0.75,
    }


def test_a_loop_that_depends_on_data_counts_the_mean() -> None:
    body = "go = Constant<value = bool {1}>()" + _loop("y", "n", "r_y = Exp(s_y)")
    model = parse(body, "(float[64] x, int64 n) => (float[64] y)")
    ledger = booked(model, [{**X, "n": np.asarray(count)} for count in (2, 4, 9)])
    assert executions(ledger) == {"y": 1, "y/body/d_y": 5, "y/body/r_y": 5}
    assert ledger.kernel_ms + ledger.gap_ms == pytest.approx(ledger.run_ms)


def _written_out(*, taken: str) -> tuple[ir.Model, dict[str, np.ndarray]]:
    """An If with one operator in each branch that the runtime writes out as several nodes without names."""
    body = """
      flag = Greater(a, b)
      y = If(flag)<
        then_branch = t () => (float16[64] u) { p = Abs(x) u = com.microsoft.FastGelu(p) },
        else_branch = e () => (float16[64] v) { q = Neg(x) w = com.microsoft.FastGelu(q) v = Neg(w) }
      >
    """
    feed = {"x": np.ones(64, np.float16), "a": np.float32(taken == "then"), "b": np.float32(0.5)}
    model = parse(body, "(float16[64] x, float a, float b) => (float16[64] y)")
    return model, {name: np.asarray(value) for name, value in feed.items()}


@pytest.mark.parametrize(("taken", "ran"), [("then", "y/then/u"), ("else", "y/else/w")])
def test_nodes_without_names_are_those_of_the_branch_that_ran(taken: str, ran: str) -> None:
    model, feed = _written_out(taken=taken)
    ledger = booked(model, [feed, feed])
    assert executions(ledger).keys() & {"y/then/u", "y/else/w"} == {ran}
    assert ledger.layers[ran].executions == 1
    assert _unattributed(ledger) == 0
