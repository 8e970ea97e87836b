"""Instruction sets: which of a CPU's the measured speed rests on, and what it means where a machine lacks them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

#: Wide registers: every kernel is slower without.
_WIDE = ("avx2", "avx512f", "neon", "sve")
#: Products of 8-bit integers: int8 kernels are slower without, and u8 x s8 products may saturate.
_INTEGER = ("avx512_vnni", "avx_vnni", "avx_vnni_int8", "amx_int8", "dotprod", "i8mm")
_LOWERED = "int8"


def rests_on(features: Sequence[str], layers: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Those of a machine's instruction sets that decided how fast this model ran on it.

    Args:
        features: of the machine that measured.
        layers: the `layers` of a `build` or `optimize` document.
    """
    integer = any(str(row.get("executed", "")).startswith(_LOWERED) for row in layers)
    deciding = (*_INTEGER, *_WIDE) if integer else _WIDE
    return tuple(name for name in deciding if name in features)


def missing_here(needed: Sequence[str], features: Collection[str]) -> str:
    """What a machine with these features lacks, as a sentence; empty where nothing is missing or nothing is known."""
    missing = [name for name in needed if name not in features]
    if not missing or not features:
        return ""
    return (
        f"The speed was measured with {', '.join(missing)}, which this machine does not have: "
        "the model runs, but that speed cannot be expected here."
    )
