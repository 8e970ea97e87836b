"""The precisions of the desk and what a machine can make of them."""

from __future__ import annotations

from enum import StrEnum


class Precision(StrEnum):
    """How the numbers of a group are stored and multiplied."""

    FP32 = "fp32"
    FP16 = "fp16"
    BF16 = "bf16"
    INT8 = "int8"
    INT8_DYNAMIC = "int8-dynamic"
    INT8_WEIGHTS = "int8-weights"
    INT4_WEIGHTS = "int4-weights"
    A16W8 = "a16w8"
    FP8 = "fp8"


class Support(StrEnum):
    """What this machine does with an operator in a precision.

    EXECUTED: a kernel of that precision runs. EMULATED: it runs through casts to another type. SIMULATED: rounding is
    modelled, its latency means nothing. UNAVAILABLE: the runtime refuses it.
    """

    EXECUTED = "executed"
    EMULATED = "emulated"
    SIMULATED = "simulated"
    UNAVAILABLE = "unavailable"


#: What this version can place into a graph; the others are refused with a sentence until they are built.
PLACEABLE = (Precision.FP32, Precision.INT8)
