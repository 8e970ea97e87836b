from __future__ import annotations

import pytest

from core.graph.liveness import activation_peak_bytes
from core.graph.read import read_layers
from tests.intake.texts import load

CASES = {
    # x and a live together, then a and b ...: two of 16 bytes
    "a chain keeps two": ("a = Relu (x)  b = Neg (a)  y = Abs (b)", 32),
    # x is read at the end, so three live
    "a value that is read late stays": ("a = Relu (x)  b = Neg (a)  y = Add (b, x)", 48),
    "what nothing reads is not kept": ("a = Concat <axis = 0> (x, x, x)  y = Neg (x)", 32),
}


@pytest.mark.parametrize("case", CASES)
def test_the_peak_is_the_largest_sum_of_what_lives_together(case: str) -> None:
    body, peak = CASES[case]
    model = load(f"g (float[4] x) => (float[4] y) {{ {body} }}")
    assert activation_peak_bytes(model, read_layers(model)) == peak


def test_an_output_that_is_written_early_stays_to_the_end() -> None:
    model = load("g (float[4] x) => (float[4] a, float[4] y) { a = Relu (x)  b = Neg (a)  d = Abs (b)  y = Exp (d) }")
    assert activation_peak_bytes(model, read_layers(model)) == 48


def test_a_container_adds_its_worst_branch_and_keeps_what_it_reads_from_outside() -> None:
    model = load(
        """g (bool c, float[4] x) => (float[4] y) {
          w = Abs (x)
          y = If (c) <
            then_branch = t () => (float[4] a) { p = Relu (w)  q = Neg (p)  a = Abs (q) },
            else_branch = e () => (float[4] b) { b = Neg (w) }
          >
        }"""
    )
    # while the branch runs: c 1 + w 16 + y 16 outside, two of 16 inside
    assert activation_peak_bytes(model, read_layers(model)) == 1 + 32 + 32
