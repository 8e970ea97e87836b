"""A graph run step by step: which steps are told, in which order, in which bodies; with the values of a real run."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest

from core.errors import RunError, UnavailableError
from core.runtime.settings import SessionSettings
from core.runtime.steps import Cut, Opened, Step, run_steps

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
CHAIN = """g (float[4] x) => (float[4] y) <float one = {1}> {
    [a] p = Add (x, one)
    [k] two = Constant <value = float {2}> ()
    [b] q = Mul (p, two)
    [c] r = Add (q, p)
    [d] s = Abs (x)
    [e] y = Add (r, s)
}"""
LOOP = """g (int64 m, int64[1] x) => (int64[1] y) <bool yes = {1}, int64 seven = {7}> {
    [loop] y = Loop <body = b (int64 i, bool before, int64[1] v) => (bool after, int64[1] w) {
        [again] after = Identity (before)
        [inner] w = Add (v, seven)
    }> (m, yes, x)
}"""


def steps(text: str, feed: dict[str, Any], cut: Cut | None = None) -> list[Step]:
    told: list[Step] = []
    run_steps(onnx.parser.parse_model(HEAD + text), feed, cut or Cut(), told.append, Opened(SessionSettings()))
    return told


FLOATS = {"x": np.ones(4, np.float32)}


def test_every_node_but_constants_is_a_step_in_order() -> None:
    assert [step.names[0] for step in steps(CHAIN, FLOATS)] == ["a", "b", "c", "d", "e"]


def test_steps_may_be_larger_and_single_within_a_range() -> None:
    assert [step.names for step in steps(CHAIN, FLOATS, Cut(size=2))] == [("a", "b"), ("c", "d"), ("e", "e")]
    told = steps(CHAIN, FLOATS, Cut(size=3, single_from=1, single_to=3))
    assert [step.names for step in told] == [("a", "a"), ("b", "b"), ("c", "c"), ("d", "e")]
    assert [(step.first, step.last) for step in told] == [(0, 0), (1, 1), (2, 2), (3, 4)]


def test_a_loop_tells_its_rounds_and_inside_it_each_round() -> None:
    feed = {"m": np.array(3), "x": np.array([1])}
    (whole,) = steps(LOOP, feed)
    assert whole.rounds == 3
    told = steps(LOOP, feed, Cut(enter=("loop",)))
    inner = [(step.names[0], step.round) for step in told if step.inside == ("loop",)]
    assert inner == [(name, number) for number in range(3) for name in ("again", "inner")]
    assert told[-1].names == ("loop", "loop")


def test_the_values_are_those_of_a_real_run() -> None:
    """A step that divides by what a real run has there fails; by anything else it would not."""
    text = """g (int64 m, int64[1] x) => (int64[1] y, int64[1] z) <bool yes = {1}, int64 want = {22}> {
        [loop] y = Loop <body = b (int64 i, bool before, int64[1] v) => (bool after, int64[1] w) {
            [again] after = Identity (before)
            [inner] w = Add (v, i)
        }> (m, yes, x)
        [minus] d = Sub (y, want)
        [divide] z = Div (x, d)
    }"""
    with pytest.raises(RunError, match="division by zero"):
        steps(text, {"m": np.array(7), "x": np.array([1])})  # 1 + 0 + 1 + ... + 6 = 22
    assert steps(text, {"m": np.array(6), "x": np.array([1])})[-1].names[0] == "divide"


def test_texts_are_handed_on_too() -> None:
    text = """g (string[2] x, float[2] f) => (float[2] y) {
        [same] s = Identity (x)
        [number] n = Cast <to = 1> (s)
        [sum] y = Add (n, f)
    }"""
    feed = {"x": np.array(["1", "2"], dtype=object), "f": np.ones(2, np.float32)}
    assert [step.names[0] for step in steps(text, feed)] == ["same", "number", "sum"]
    with pytest.raises(RunError):
        steps(text, {**feed, "x": np.array(["one", "2"], dtype=object)})


def test_a_scan_of_a_rare_form_is_told_as_such() -> None:
    text = """g (float[3, 2] x) => (float[2, 3] y) <float[2] e = {0, 0}> {
        [scan] last, y = Scan <num_scan_inputs = 1, scan_input_directions = [1], body = b (float[2] s, float[2] v)
            => (float[2] t, float[2] w) { [keep] t = Add (s, v) [same] w = Identity (v) }
        > (e, x)
    }"""
    feed = {"x": np.ones((3, 2), np.float32)}
    assert [step.rounds for step in steps(text, feed)] == [3]
    with pytest.raises(UnavailableError, match="other axes or backwards"):
        steps(text, feed, Cut(enter=("scan",)))
