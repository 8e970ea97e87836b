from __future__ import annotations

import pytest

from core.intake.proposals import propose_shapes
from tests.intake.texts import load


@pytest.mark.parametrize(
    ("declared", "proposed"),
    [
        ("float[batch,3,224,224]", (1, 3, 224, 224)),
        ("float[N,3,H,W]", (1, 3, 224, 224)),
        ("float[p,q,r,t]", (1, 3, 224, 224)),
        ("float[a,3,48,w0]", (1, 3, 48, 320)),
        ("int64[batch,seq_len]", (1, 32)),
        ("float[a,t,80]", (1, 32, 80)),
        ("float[2,state,128]", (2, 1, 128)),
        ("float[num_atoms]", (32,)),
        ("float[a,1,7500]", (1, 1, 7500)),
        ("int64", ()),
    ],
)
def test_open_sizes_are_proposed_by_name_and_place(declared: str, proposed: tuple[int, ...]) -> None:
    model = load(f"g ({declared} x) => ({declared} y) {{ y = Identity (x) }}")
    assert propose_shapes(model) == {"x": proposed}


def test_one_symbol_has_one_size_and_a_cache_adds_to_the_total() -> None:
    model = load(
        "g (int64[b,s] ids, int64[b,total_len] mask, float[b,4,past_len,8] past) => (int64[b,s] y)"
        " { y = Identity (ids) }"
    )
    assert propose_shapes(model) == {"ids": (1, 32), "mask": (1, 40), "past": (1, 4, 8, 8)}


def test_given_sizes_are_kept_and_spread_by_symbol() -> None:
    model = load("g (float[n,m] a, float[m,n] b) => (float[n,m] c) { c = Relu (a) }")
    assert propose_shapes(model, {"a": (2, 5)}) == {"a": (2, 5), "b": (5, 2)}
