"""The operators that the capability grid tries: each with what it reads, at the shapes of usual models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Activation:
    """An input of numbers that are computed while the model runs."""

    shape: Shape


@dataclass(frozen=True, slots=True)
class Weight:
    """Stored numbers. `axis` is that of the output channels, None where one scale serves for all.

    Those that are not `lowered` keep the type of the activations: scales and shifts of normalizations are few.
    """

    shape: Shape
    axis: int | None = None
    lowered: bool = True
    positive: bool = False


@dataclass(frozen=True, slots=True)
class Ids:
    """An input of whole numbers below `below`: rows of a table."""

    shape: Shape
    below: int


@dataclass(frozen=True, slots=True)
class Fixed:
    """A stored input that no precision changes: a shape, axes, factors of size. None: left out."""

    array: tuple[float, ...] | None
    dtype: str = "int64"


Operand = Activation | Weight | Ids | Fixed


@dataclass(frozen=True, slots=True)
class OneOperator:
    """An operator with what it reads, in the order of its inputs.

    `low`..`high` is the range of its results where the activations lie in -1..1; with weights it is not known before.
    `float_output`: its int8 kernel gives floats as well, so that rounding of the result is not part of it.
    """

    op_type: str
    signature: str
    operands: tuple[Operand, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    low: float = -1.0
    high: float = 1.0
    float_output: bool = False

    @property
    def lowered(self) -> tuple[Weight, ...]:
        """The weights that a lower precision stores in fewer bits."""
        return tuple(each for each in self.operands if isinstance(each, Weight) and each.lowered)

    @property
    def activations(self) -> tuple[Activation, ...]:
        """The inputs that a lower precision rounds while the model runs."""
        return tuple(each for each in self.operands if isinstance(each, Activation))


def convolution(signature: str, channels: tuple[int, int], size: int, kernel: int, **attributes: Any) -> OneOperator:
    """A 2-D convolution that keeps the borders (odd kernels)."""
    given, made = channels
    weight = (made, given // int(attributes.get("group", 1)), kernel, kernel)
    reads = (Activation((1, given, size, size)), Weight(weight, 0))
    return OneOperator("Conv", signature, reads, {"pads": [kernel // 2] * 4, **attributes}, *_WIDE)


def _recurrent(op_type: str, gates: int, steps: int, size: int) -> OneOperator:
    weight = Weight((1, gates * size, size))
    reads = (Activation((steps, 1, size)), weight, weight)
    shown = f"{steps} step{'' if steps == 1 else 's'}, {size} to {size}"
    return OneOperator(op_type, shown, reads, {"hidden_size": size})


def _of_map(op_type: str, *more: Operand, signature: str = "64x28x28", **options: Any) -> OneOperator:
    """An operator on one feature map of 64 channels."""
    return OneOperator(op_type, signature, (_MAP, *more), **options)


def product(op_type: str, rows: Shape, depth: int, width: int) -> OneOperator:
    """A matrix of activations times a stored one."""
    shown = f"{'x'.join(map(str, (*rows, depth)))} by {depth}x{width}"
    reads = (Activation((*rows, depth)), Weight((depth, width), 1))
    return OneOperator(op_type, shown, reads, {}, *_WIDE, float_output=True)


def _both_computed(heads: int, rows: int, depth: int) -> OneOperator:
    shown = f"{heads} heads, {rows}x{depth} by {depth}x{rows}, both computed"
    return OneOperator(
        "MatMul", shown, (Activation((1, heads, rows, depth)), Activation((1, heads, depth, rows))), {}, -16.0, 16.0
    )


_WIDE = (-8.0, 8.0)
_MAP = Activation((1, 64, 28, 28))
_TOKENS = Activation((1, 128, 384))
_HALVING = {"kernel_shape": [2, 2], "strides": [2, 2]}
_SCALE, _SHIFT = Weight((64,), lowered=False, positive=True), Weight((64,), lowered=False)
_OF_TOKENS = (Weight((384,), lowered=False, positive=True), Weight((384,), lowered=False))

OPERATORS: tuple[OneOperator, ...] = (
    convolution("3x3, 64 to 64 channels, 28x28", (64, 64), 28, 3),
    convolution("3x3, 3 to 32 channels, 112x112, stride 2", (3, 32), 112, 3, strides=[2, 2]),
    convolution("1x1, 128 to 128 channels, 28x28", (128, 128), 28, 1),
    convolution("depthwise 3x3, 128 channels, 28x28", (128, 128), 28, 3, group=128),
    convolution("depthwise 5x5, 192 channels, 14x14", (192, 192), 14, 5, group=192),
    convolution("grouped 3x3, 4 x 32 channels, 14x14", (128, 128), 14, 3, group=4),
    OneOperator("Conv", "1-D, 5 wide, 128 to 128 channels, 256 steps",
                (Activation((1, 128, 256)), Weight((128, 128, 5), 0)), {"pads": [2, 2]}, *_WIDE),
    OneOperator("ConvTranspose", "2x2, stride 2, 64 to 32 channels, 28x28", (_MAP, Weight((64, 32, 2, 2))),
                {"strides": [2, 2]}, *_WIDE),
    OneOperator("ConvTranspose", "4x4, stride 2, 32 to 32 channels, 14x14",
                (Activation((1, 32, 14, 14)), Weight((32, 32, 4, 4))), {"strides": [2, 2], "pads": [1] * 4}, *_WIDE),
    product("Gemm", (1,), 512, 512),
    product("Gemm", (32,), 512, 512),
    product("MatMul", (1, 128), 384, 384),
    product("MatMul", (1, 1), 384, 1536),
    _both_computed(12, 64, 32),
    _recurrent("LSTM", 4, 32, 128),
    _recurrent("LSTM", 4, 1, 256),
    _recurrent("GRU", 3, 32, 128),
    _recurrent("GRU", 3, 1, 256),
    _of_map("Add", _MAP, signature="64x28x28 both sides", low=-2.0, high=2.0),
    OneOperator("Add", "128x384 and a stored row", (_TOKENS, Weight((384,), lowered=False)), {}, -2.0, 2.0),
    _of_map("Sub", _MAP, signature="64x28x28 both sides", low=-2.0, high=2.0),
    _of_map("Mul", _MAP, signature="64x28x28 both sides"),
    OneOperator("Mul", "64x28x28 by one number per channel", (_MAP, Activation((1, 64, 1, 1)))),
    _of_map("Concat", _MAP, signature="two of 64x28x28", attributes={"axis": 1}),
    _of_map("MaxPool", signature="2x2, 64x28x28", attributes=_HALVING),
    _of_map("MaxPool", signature="3x3, stride 1, 64x28x28", attributes={"kernel_shape": [3, 3], "pads": [1] * 4}),
    _of_map("AveragePool", signature="2x2, 64x28x28", attributes=_HALVING),
    OneOperator("GlobalAveragePool", "128x14x14", (Activation((1, 128, 14, 14)),)),
    _of_map("ReduceMean", Fixed((2, 3)), signature="over rows and columns of 64x28x28"),
    _of_map("Relu", low=0.0),
    OneOperator("Relu", "128x1536", (Activation((1, 128, 1536)),), low=0.0),
    _of_map("Clip", Fixed((0.0,), "number"), Fixed((6.0,), "number"), signature="0 to 6, 64x28x28", low=0.0),
    _of_map("LeakyRelu"),
    _of_map("PRelu", Weight((64, 1, 1), lowered=False)),
    _of_map("Sigmoid", low=0.0),
    OneOperator("Sigmoid", "1x256", (Activation((1, 256)),), low=0.0),
    _of_map("HardSigmoid", low=0.0),
    _of_map("HardSwish"),
    _of_map("Tanh"),
    _of_map("Gelu"),
    OneOperator("Gelu", "128x1536", (Activation((1, 128, 1536)),)),
    _of_map("Erf"),
    _of_map("BatchNormalization", _SCALE, _SHIFT, _SHIFT, _SCALE, low=-4.0, high=4.0),
    _of_map("InstanceNormalization", _SCALE, _SHIFT, low=-4.0, high=4.0),
    OneOperator("LayerNormalization", "128x384", (_TOKENS, *_OF_TOKENS), {}, -4.0, 4.0),
    OneOperator("LayerNormalization", "1x384", (Activation((1, 1, 384)), *_OF_TOKENS), {}, -4.0, 4.0),
    OneOperator("Softmax", "12 heads of 64x64", (Activation((1, 12, 64, 64)),), low=0.0, high=0.25),
    OneOperator("Softmax", "1x1000", (Activation((1, 1000)),), low=0.0, high=0.01),
    OneOperator("Gather", "128 of 8000 rows of 256", (Weight((8000, 256), 0), Ids((1, 128), 8000)), high=0.5, low=-0.5),
    OneOperator("Gather", "1 of 8000 rows of 256", (Weight((8000, 256), 0), Ids((1, 1), 8000)), high=0.5, low=-0.5),
    OneOperator("Resize", "nearest, 32x14x14 to 28x28",
                (Activation((1, 32, 14, 14)), Fixed(None), Fixed((1, 1, 2, 2), "float32")), {"mode": "nearest"}),
    OneOperator("Resize", "linear, 32x14x14 to 28x28",
                (Activation((1, 32, 14, 14)), Fixed(None), Fixed((1, 1, 2, 2), "float32")), {"mode": "linear"}),
    _of_map("Transpose", attributes={"perm": [0, 2, 3, 1]}),
    OneOperator("Transpose", "128x12x32 to 12x128x32", (Activation((1, 128, 12, 32)),), {"perm": [0, 2, 1, 3]}),
    _of_map("Reshape", Fixed((1, -1)), signature="64x28x28 to one row"),
    _of_map("Flatten", signature="64x28x28 to one row"),
    OneOperator("Squeeze", "1x1x64x28x28", (Activation((1, 1, 64, 28, 28)), Fixed((1,)))),
    _of_map("Unsqueeze", Fixed((1,))),
    _of_map("Identity"),
    _of_map("Slice", Fixed((0,)), Fixed((32,)), Fixed((1,)), signature="half of the channels of 64x28x28"),
)  # fmt: skip
