from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.transform.affine import (
    Range,
    activation_code,
    bias_floor,
    quantize_bias,
    quantize_weight,
)

_ENDS = st.floats(-1e6, 1e6, allow_nan=False, width=32)


@given(_ENDS, _ENDS)
def test_an_activation_code_holds_zero_exactly_and_covers_its_range(one: float, other: float) -> None:
    low, high = min(one, other), max(one, other)
    code = activation_code(Range(low, high))
    assert 0 <= code.zero_point <= 255
    if high - low > 1e-3:
        step = float(code.scale)
        assert (0 - code.zero_point) * step <= min(low, 0) + step
        assert (255 - code.zero_point) * step >= max(high, 0) - step


@pytest.mark.parametrize("seen", [Range(0.0, 0.0), Range(0.0, 1e-38)])
def test_a_tensor_that_is_always_zero_gets_a_harmless_code(seen: Range) -> None:
    assert activation_code(seen).scale == 1.0


@pytest.mark.parametrize("limit", [127, 64])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_weights_come_back_within_half_a_step(limit: int, axis: int | None) -> None:
    weight = np.random.default_rng(1).normal(size=(6, 5, 3)).astype(np.float32)
    code = quantize_weight(weight, axis=axis, limit=limit)
    scale = code.scale if axis is None else code.scale.reshape([-1 if i == axis else 1 for i in range(3)])
    assert np.abs(code.codes).max() == limit
    assert np.all(np.abs(code.codes * scale - weight) <= scale / 2 + 1e-6)


def test_a_channel_of_zeros_stays_zero() -> None:
    weight = np.zeros((2, 3), np.float32)
    weight[1] = 1.0
    code = quantize_weight(weight, axis=0, limit=127)
    assert code.codes[0].tolist() == [0, 0, 0]
    assert code.codes[1].tolist() == [127, 127, 127]


def test_a_bias_far_larger_than_its_weights_does_not_overflow() -> None:
    weight, bias = np.full((1, 4), 1e-9, np.float32), np.array([1e4], np.float32)
    input_scale = np.float32(1e-3)
    code = quantize_weight(weight, axis=0, limit=127, floor=bias_floor(bias, input_scale))
    codes, scale = quantize_bias(bias, input_scale, code.scale)
    assert codes.dtype == np.int32
    assert codes[0] * float(scale[0]) == pytest.approx(1e4, rel=1e-3)
