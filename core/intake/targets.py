"""Targets: which of a model's inputs takes the images, the sound or the tokens, judged by shape, type and name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from core.errors import DataError, did_you_mean
from core.intake.fit import shape_text
from core.intake.model import Model, TensorSpec

_CHANNELS = (1, 3)
_PIXELS = ("float32", "float16", "bfloat16", "float64", "uint8", "int8")
_SOUND = ("float32", "float16", "bfloat16", "float64")
_SOUND_NAME = r"audio|wav|sound|signal|speech|pcm|^input|^x$|^data"
_NOT_SOUND = r"state|hidden|cache|mask|length|^h\d*$|^c\d*$|(^|_)sr$|rate|memory|past"
_NPZ = "Give prepared arrays as .npz instead."

#: What an input of a text model is, by its name; the first that fits counts.
_ROLES = (
    ("types", r"token_type|segment|type_ids"),
    ("mask", r"mask"),
    ("positions", r"position"),
    ("ids", r"input_ids|token|(^|_)ids?$|^src$|^text|^input|^x$"),
)


@dataclass(frozen=True, slots=True)
class ImageTarget:
    """The input that takes images: its layout, channels and size; open sizes are None."""

    spec: TensorSpec
    layout: str
    channels: int | None
    height: int | None
    width: int | None


def image_target(model: Model, name: str | None = None) -> ImageTarget:
    """The input that takes images.

    Raises:
        DataError: there is none; says what the inputs take instead.
    """
    specs = [find_input(model, name)] if name else list(model.inputs)
    for spec in specs:
        target = _as_image(spec)
        if target is not None:
            return target
    raise DataError(f"No input of the model takes images: {_inputs_text(specs)}.", hint=_NPZ)


def sound_target(model: Model, name: str | None = None) -> TensorSpec:
    """The input that takes windows of sound: floats, of rank 1 to 3.

    Raises:
        DataError: there is none.
    """
    if name:
        return find_input(model, name)
    fit = [
        spec for spec in model.inputs if spec.dtype in _SOUND and spec.shape is not None and 1 <= len(spec.shape) <= 3
    ]
    fit = [spec for spec in fit if not re.search(_NOT_SOUND, spec.name.lower())]
    fit.sort(key=lambda spec: not re.search(_SOUND_NAME, spec.name.lower()))
    if not fit:
        raise DataError(f"No input of the model takes sound: {_inputs_text(model.inputs)}.", hint=_NPZ)
    return fit[0]


def text_targets(model: Model, name: str | None = None) -> dict[str, TensorSpec]:
    """Role ("ids", "mask", "types", "positions", or "text" for strings) -> input.

    Raises:
        DataError: nothing takes tokens or text.
    """
    if name is not None and find_input(model, name).dtype == "str":
        return {"text": find_input(model, name)}
    strings = [spec for spec in model.inputs if spec.dtype == "str"]
    if len(strings) == 1 and name is None:
        return {"text": strings[0]}
    found: dict[str, TensorSpec] = {"ids": find_input(model, name)} if name else {}
    for spec in model.inputs:
        role = next((role for role, pattern in _ROLES if re.search(pattern, spec.name.lower())), None)
        whole = spec.dtype.startswith(("int", "uint")) or (role == "mask" and spec.dtype in ("bool", *_SOUND))
        if role is not None and whole and spec.shape is not None and len(spec.shape) in (1, 2):
            found.setdefault(role, spec)
    alone = [spec for spec in model.inputs if spec.dtype.startswith("int") and len(spec.shape or ()) == 2]
    if "ids" not in found and len(alone) == 1:
        found["ids"] = alone[0]
    if "ids" not in found:
        raise DataError(f"No input of the model takes tokens: {_inputs_text(model.inputs)}.", hint=_NPZ)
    return found


def find_input(model: Model, name: str) -> TensorSpec:
    """The input of that name.

    Raises:
        DataError: there is none; the nearest is suggested.
    """
    specs: Mapping[str, TensorSpec] = {spec.name: spec for spec in model.inputs}
    if name not in specs:
        raise DataError(
            f"The model has no input '{name}'.{did_you_mean(name, specs)}", hint=f"It has {', '.join(specs)}."
        )
    return specs[name]


def _as_image(spec: TensorSpec) -> ImageTarget | None:
    if spec.shape is None or len(spec.shape) not in (3, 4) or spec.dtype not in _PIXELS:
        return None
    sizes = [size if isinstance(size, int) else None for size in spec.shape[-3:]]
    first, middle, last = sizes
    if first in _CHANNELS or (first is None and last not in _CHANNELS and len(spec.shape) == 4):
        return ImageTarget(spec, "NCHW", first, middle, last)
    if last in _CHANNELS:
        return ImageTarget(spec, "NHWC", last, first, middle)
    return None


def _inputs_text(specs: object) -> str:
    listed = list(specs) if isinstance(specs, list | tuple) else []
    each = [f"'{spec.name}' takes {spec.dtype or '?'} {shape_text(spec.shape or ())}" for spec in listed[:4]]
    return "; ".join(each) + ("; ..." if len(listed) > 4 else "") if each else "it has none"
