"""Liveness on models small enough to add up by hand; every activation is of float[4], 16 bytes, unless it says more."""

from __future__ import annotations

import pytest

from core.graph.liveness import Liveness, activation_peak_bytes, read_liveness
from core.graph.read import read_layers
from tests.intake.texts import load

CASES = {
    # x and a; b takes a's place, but y is an output and gets its own
    "a chain keeps two": ("a = Neg (x)  b = Relu (a)  y = Abs (b)", 32),
    # x is read at the end, so three live
    "a value that is read late stays": ("a = Relu (x)  b = Neg (a)  y = Add (b, x)", 48),
    "what nothing reads is not kept": ("a = Concat <axis = 0> (x, x, x)  y = Neg (x)", 32),
    "arithmetic does not overwrite": ("a = Neg (x)  b = Neg (a)  c = Add (b, b)  y = Sub (c, x)", 48),
    "an activation overwrites": ("a = Neg (x)  b = Relu (a)  c = Sigmoid (b)  y = Sub (c, x)", 48),
    # a is read again at the end: x a b, then a b c and so on
    "what is read later is not overwritten": ("a = Neg (x)  b = Relu (a)  c = Neg (b)  y = Sub (c, a)", 48),
}


def live(text: str, **shapes: tuple[int, ...]) -> Liveness:
    model = load(text)
    found = read_liveness(model, read_layers(model, shapes=shapes or None))
    assert found is not None
    assert found.peak_bytes == max(size for _, size in found.steps)
    assert found.peak_bytes == sum(holder.size_bytes for holder in found.holders)
    assert found.peak_bytes <= found.planned_bytes <= found.total_bytes
    assert activation_peak_bytes(model, read_layers(model, shapes=shapes or None)) == found.peak_bytes
    return found


@pytest.mark.parametrize("case", CASES)
def test_the_peak_is_the_largest_sum_of_what_lives_together(case: str) -> None:
    body, peak = CASES[case]
    assert live(f"g (float[4] x) => (float[4] y) {{ {body} }}").peak_bytes == peak


def test_every_step_says_what_is_in_use_and_the_peak_who_holds_it() -> None:
    found = live(
        """g (float[4] x) => (float[4] y) <int64[1] zero = {0}, int64[1] four = {4}> {
          [wide] a = Concat <axis = 0> (x, x, x)  [cut] b = Slice (a, zero, four)  [last] y = Add (b, x)
        }"""
    )
    assert found.steps == (("wide", 16 + 48), ("cut", 16 + 48 + 16), ("last", 48))
    assert found.peak_at == "cut"
    told = [holder.to_dict() for holder in found.holders]
    assert told[0] == {"layer": "wide", "tensor": "a", "bytes": 48, "from": "wide", "to": "cut"}
    assert told[1] == {"layer": None, "tensor": "x", "bytes": 16, "from": "wide", "to": "last"}
    assert told[2] == {"layer": "cut", "tensor": "b", "bytes": 16, "from": "cut", "to": "last"}
    assert found.total_bytes == 16 + 48 + 16 + 16


def test_an_output_that_is_written_early_stays_to_the_end() -> None:
    found = live("g (float[4] x) => (float[4] a, float[4] y) { a = Relu (x)  b = Neg (a)  d = Abs (b)  y = Exp (d) }")
    assert found.steps == (("a", 32), ("b", 32), ("d", 48), ("y", 48))


@pytest.mark.parametrize(
    "view", ["Identity (a)", "Flatten (a)", "Reshape (a, one)", "Squeeze (a)", "Unsqueeze (a, axis)"]
)
def test_a_view_has_no_memory_of_its_own_and_keeps_its_source_alive(view: str) -> None:
    found = live(
        f"""g (float[4] x) => (float[4] y, float[n] z) <int64[1] one = {{-1}}, int64[1] axis = {{0}}> {{
          a = Neg (x)  v = {view}  b = Neg (x)  y = Abs (b)  z = ReduceMax (v)
        }}"""
    )
    assert dict(found.steps)["v"] == 32  # x and a
    assert dict(found.steps)["y"] == 48  # a, still read through v; b; y
    assert found.total_bytes == 4 * 16 + 4


def test_an_output_is_copied_also_by_a_view() -> None:
    found = live("g (float[4] x) => (float[4] y) { a = Neg (x)  y = Identity (a) }")
    assert found.steps == (("a", 32), ("y", 32))
    assert found.total_bytes == 48


def test_inputs_are_never_overwritten() -> None:
    assert live("g (float[4] x) => (float[4] y) { a = Relu (x)  y = Neg (a) }").total_bytes == 48
    assert live("g (float[4] x) => (float[4] y) { v = Identity (x)  a = Relu (v)  y = Neg (a) }").steps[1] == ("a", 32)


def test_a_cast_overwrites_only_a_type_of_the_same_size() -> None:
    body = "a = Neg (x)  b = Cast <to = {}> (a)  c = Cast <to = 1> (b)  y = Add (c, x)"
    text = f"g (float[4] x) => (float[4] y) {{{{ {body} }}}}"
    assert dict(live(text.format(6)).steps)["b"] == 32  # int32 in the place of float
    assert dict(live(text.format(11)).steps)["b"] == 16 + 16 + 32  # double


def test_what_depends_on_no_input_needs_nothing_during_a_run() -> None:
    found = live(
        """g (float[4] x) => (float[4] y) <float[4] w = {1, 2, 3, 4}> {
          a = Neg (w)  b = Exp (a)  c = Neg (x)  y = Add (c, b)
        }"""
    )
    assert found.steps == (("a", 16), ("b", 16), ("c", 32), ("y", 32))
    drawn = live("g (float[4] x) => (float[4] y) { a = RandomNormal <shape = [4]> ()  y = Add (a, x) }")
    assert drawn.steps == (("a", 32), ("y", 48))


BRANCHES = """g (bool c, float[4] x) => (float[4] y) {
  w = Abs (x)
  y = If (c) <
    then_branch = t () => (float[4] a) { p = Neg (w)  q = Neg (p)  a = Abs (q) },
    else_branch = e () => (float[4] b) { b = Neg (w) }
  >
}"""


def test_a_container_adds_its_worst_branch_and_keeps_what_it_reads_from_outside() -> None:
    found = live(BRANCHES)
    # around a branch: c 1, w 16, y 16; inside the first p and q, and a is written straight to y
    assert dict(found.steps) == {
        "w": 1 + 32,
        "y": 1 + 32,
        "y/then/p": 1 + 32 + 16,
        "y/then/q": 1 + 32 + 32,
        "y/then/a": 1 + 32 + 16,
        "y/else/b": 1 + 32,
    }
    assert found.peak_at == "y/then/q"
    assert {holder.tensor for holder in found.holders} == {"c", "w", "y", "p", "q"}
    assert [holder.to_dict()["to"] for holder in found.holders if holder.tensor in "wp"] == ["y", "y/then/q"]


def test_branches_share_their_place_in_the_plan() -> None:
    both = BRANCHES.replace("b = Neg (w)", "r = Neg (w)  s = Neg (r)  b = Abs (s)")
    assert live(both).planned_bytes == live(BRANCHES).planned_bytes
    assert live(both).total_bytes == live(BRANCHES).total_bytes + 32


def test_what_a_loop_gives_lives_to_the_end_of_its_body() -> None:
    found = live(
        """g (float[4] x) => (float[4] y) <int64 n = {5}, bool go = {1}> {
          y = Loop (n, go, x) <body = l (int64 i, bool k, float[4] s) => (bool k2, float[4] s2) {
            s2 = Neg (s)  t = Neg (s2)  m = ReduceMax (t)  zero = Sub (m, m)  k2 = Cast <to = 9> (zero)
          }>
        }"""
    )
    steps = dict(found.steps)
    assert steps["y/body/t"] == 32 + 16 + 16  # x and y outside, s2 and t inside
    assert steps["y/body/k2"] == 32 + 16 + 4 + 1  # s2 is still there


def test_sizes_follow_the_shapes_of_the_run() -> None:
    text = "g (float[n, 4] x) => (float[n, 4] y) { a = Neg (x)  y = Neg (a) }"
    one, eight = live(text, x=(1, 4)), live(text, x=(8, 4))
    assert (one.peak_bytes, eight.peak_bytes) == (32, 256)
    assert (eight.total_bytes, eight.planned_bytes) == (8 * one.total_bytes, 8 * one.planned_bytes)


def test_without_any_known_size_nothing_is_known() -> None:
    model = load("g (float[4] x) => (float[n] y) { i = NonZero (x)  y = Cast <to = 1> (i) }")
    layers = read_layers(model)
    if any(layer.activation_bytes is not None for layer in layers):
        pytest.skip("the sizes became known")
    assert read_liveness(model, layers) is None


def test_a_model_without_layers_holds_nothing() -> None:
    model = load("g (float[4] x) => (float[4] x) { }")
    found = read_liveness(model, read_layers(model))
    assert found is not None
    assert (found.peak_bytes, found.planned_bytes, found.peak_at, found.steps) == (0, 0, None, ())
