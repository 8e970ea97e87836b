"""The speed rests on instruction sets: of 8-bit products only where layers run in int8."""

from __future__ import annotations

from core.report.instructions import missing_here, rests_on

INT8 = [{"executed": "int8"}, {"executed": "folded"}]
FLOAT = [{"executed": "fp32"}]


def test_int8_rests_on_integer_products_float_on_wide_registers() -> None:
    features = ("sse4.1", "avx2", "avx512f", "avx512_vnni")
    assert rests_on(features, INT8) == ("avx512_vnni", "avx2", "avx512f")
    assert rests_on(features, FLOAT) == ("avx2", "avx512f")


def test_what_is_missing_is_a_sentence() -> None:
    assert "measured with avx512_vnni, avx512f, which" in missing_here(("avx512_vnni", "avx512f", "avx2"), ("avx2",))
    assert not missing_here(("avx2",), ("avx2", "fma"))


def test_a_machine_that_tells_no_features_is_not_accused() -> None:
    assert not missing_here(("avx2",), ())
