"""Guesses: a preprocessing proposed from a model's inputs and the files' names and heads, each guess told.

What cannot be known (the mean and deviation that a model was trained with) is what most models of its kind use; the
sentence in `guessed` says so, because a wrong one costs accuracy without any error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onnx_ir as ir

from core.intake.audio import read_wav
from core.intake.constants import propose_constants
from core.intake.images import image_size
from core.intake.labels import find_column, propose_labels, read_table
from core.intake.members import AUDIO_SUFFIXES, IMAGE_SUFFIXES, TABLE_SUFFIXES, Members, UnreadableError
from core.intake.model import Model
from core.intake.preprocessing import AudioPreprocessing, ImagePreprocessing, TextPreprocessing
from core.intake.proposals import SIGNAL, propose_shapes
from core.intake.targets import ImageTarget, image_target, sound_target, text_targets
from core.intake.texts import tokenizer_length
from core.intake.texts_reader import LABEL_COLUMNS

#: Of the ImageNet photos, as most image models are trained.
IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
#: Models of photos are mostly tested on the middle seven eighths.
_CROP_SHARE = 0.875
_SMALLEST_PHOTO = 128
_PEEKED = 16
_TEXT_LENGTH = 128
_SAMPLE_RATE = 16_000
_WINDOW_S = 1.0
#: How the sentence begins that says which scale was taken without knowing it.
SCALE_GUESSED = "pixels are scaled"
_SCALING = frozenset({"Sub", "Div", "Mul", "Add"})
_PASSING = frozenset({"Cast", "Identity", "Transpose"})

Shapes = Mapping[str, tuple[int, ...]]


def guess_images(model: Model, members: Members, shapes: Shapes, proposal: Shapes | None = None) -> ImagePreprocessing:
    """How images probably become the model's input.

    Raises:
        DataError: no input takes images.
    """
    target = image_target(model)
    name = target.spec.name
    seen = _peek(members)
    size, told = _image_size(target, seen, shapes, proposal or propose_shapes(model))
    resize, resize_to, crop, how = _resize(size, seen)
    channels = target.channels or 3
    numbers, numbers_told = _numbers(model, target, channels)
    labels, labels_told = propose_labels(members, members.having(IMAGE_SUFFIXES))
    known = {"shape": [list(size)], "scale": 1}
    constants, constants_told = propose_constants(model, {name}, values=known)
    colour = "grey" if channels == 1 else "RGB"
    sentences = [told, how, None if channels == 1 else "colours are in the order RGB", numbers_told, labels_told]
    return ImagePreprocessing(
        input=name,
        size=size,
        resize=resize,
        resize_to=resize_to,
        crop=crop,
        layout=target.layout,
        colour=colour,
        labels=labels,
        constants=constants,
        guessed=tuple(text for text in [*sentences, *constants_told] if text),
        **numbers,
    )


def guess_audio(model: Model, members: Members, shapes: Shapes, proposal: Shapes | None = None) -> AudioPreprocessing:
    """How sound probably becomes the model's input.

    Raises:
        DataError: no input takes sound.
    """
    spec = sound_target(model)
    rate, rate_told = _SAMPLE_RATE, f"sound is brought to {_SAMPLE_RATE} Hz"
    has_rate = any(other.name.lower() in ("sr", "rate", "sample_rate") for other in model.inputs)
    if not has_rate:
        found = _rate(members)
        if found is not None:
            rate, rate_told = found, f"sound is at {found} Hz, as in the first file"
    last = (spec.shape or ("?",))[-1]
    given = shapes.get(spec.name)
    if isinstance(last, int):
        window, window_told = last, None
    elif given:
        window, window_told = given[-1], None
    else:
        proposed = (proposal or propose_shapes(model)).get(spec.name, (0,))[-1]
        window = max(proposed, SIGNAL if has_rate else int(rate * _WINDOW_S))
        window_told = f"windows are {window} samples long"
    labels, labels_told = propose_labels(members, members.having(AUDIO_SUFFIXES))
    constants, constants_told = propose_constants(model, {spec.name}, values={r"(^|_)sr$|rate": rate})
    sentences = [rate_told, window_told, "windows do not overlap", labels_told, *constants_told]
    guessed = tuple(text for text in sentences if text)
    return AudioPreprocessing(
        input=spec.name, rate=rate, window=window, labels=labels, constants=constants, guessed=guessed
    )


def guess_text(model: Model, members: Members, tokenizer: Path | None) -> TextPreprocessing:
    """How texts probably become the model's input.

    Raises:
        DataError: no input takes text, or the tokenizer is none.
    """
    targets = text_targets(model)
    fed = {spec.name for spec in targets.values()}
    spec = targets.get("ids") or targets["text"]
    fixed = spec.shape[-1] if spec.shape and "ids" in targets else None
    told: list[str | None] = []
    if isinstance(fixed, int):
        length, padding = fixed, "max_length"
    else:
        own = tokenizer_length(tokenizer) if tokenizer is not None else None
        length, padding = own or _TEXT_LENGTH, "longest"
        source = "as the tokenizer says" if own else "a usual length"
        told.append(f"texts are cut to {length} tokens, {source}" if "ids" in targets else None)
    labels, labels_told = _text_labels(members)
    constants, constants_told = propose_constants(model, fed, values={})
    return TextPreprocessing(
        input=spec.name,
        max_length=length,
        padding=padding,
        labels=labels,
        constants=constants,
        guessed=tuple(text for text in [*told, labels_told, *constants_told] if text),
    )


def _peek(members: Members) -> Counter[tuple[int, int]]:
    """(Height, width) of the first images that can be read -> how many have it."""
    sizes: Counter[tuple[int, int]] = Counter()
    for name in members.having(IMAGE_SUFFIXES)[:_PEEKED]:
        try:
            width, height = image_size(members.read(name))
        except UnreadableError:
            continue  # the conversion lists it with its reason
        sizes[height, width] += 1
    return sizes


def _image_size(
    target: ImageTarget, seen: Counter[tuple[int, int]], shapes: Shapes, proposal: Shapes
) -> tuple[tuple[int, int], str | None]:
    name = target.spec.name
    if target.height is not None and target.width is not None:
        return (target.height, target.width), None
    decided = name in shapes
    if not decided and len(seen) == 1:
        ((height, width),) = seen
        size = target.height or height, target.width or width
        if size == (height, width):
            return size, f"the model leaves the size open: {height} x {width}, as the images have it"
    shape = (shapes if decided else proposal)[name]
    height, width = shape[-2:] if target.layout == "NCHW" else shape[-3:-1]
    return (height, width), None if decided else f"the model leaves the size open: {height} x {width}"


def _resize(size: tuple[int, int], seen: Counter[tuple[int, int]]) -> tuple[str, int | None, str, str | None]:
    """How images reach that size: resize, resize_to, crop, and the sentence."""
    if list(seen) == [size]:
        # the rest may differ: those are resized and cut, these come out as they are
        return "shorter-side", None, "center", None
    height, width = size
    if height != width:
        return "stretch", None, "none", f"images are stretched to {height} x {width}"
    if height < _SMALLEST_PHOTO:
        return "shorter-side", None, "center", f"the shorter side becomes {height}, the middle is cut out"
    shorter = round(height / _CROP_SHARE)
    return (
        "shorter-side",
        shorter,
        "center",
        f"the shorter side becomes {shorter}, the middle {height} x {width} is cut",
    )


def _numbers(model: Model, target: ImageTarget, channels: int) -> tuple[dict[str, Any], str]:
    """Scale, mean and deviation, and the sentence that says why these."""
    if target.spec.dtype in ("uint8", "int8"):
        return {}, "pixels stay whole numbers"
    if _scales_itself(model.ir, target.spec.name):
        return {}, "pixels stay 0 to 255, because the model's first layers scale them"
    if channels == 1:
        return {"scale": 1 / 255}, f"{SCALE_GUESSED} to 0 to 1"
    if target.layout == "NHWC":
        return {"mean": (127.5,), "std": (127.5,)}, f"{SCALE_GUESSED} to −1 to 1, as for most models with channels last"
    values = {"scale": 1 / 255, "mean": IMAGENET_MEAN, "std": IMAGENET_STD}
    return values, f"{SCALE_GUESSED} with the mean and deviation of ImageNet, as for most image models"


def _scales_itself(model: ir.Model, name: str) -> bool:
    """Whether what first happens to an input is arithmetic with stored numbers."""
    value = next(value for value in model.graph.inputs if value.name == name)
    for _ in range(4):
        nodes = [node for node, _ in value.uses()]
        if len(nodes) != 1:
            return False
        node = nodes[0]
        if node.op_type in _SCALING:
            others = [other for other in node.inputs if other is not None and other is not value]
            return all(other.const_value is not None or _is_constant(other) for other in others)
        if node.op_type not in _PASSING:
            return False
        value = node.outputs[0]
    return False


def _is_constant(value: ir.Value) -> bool:
    producer = value.producer()
    return producer is not None and producer.op_type == "Constant"


def _rate(members: Members) -> int | None:
    for name in members.having(AUDIO_SUFFIXES)[:_PEEKED]:
        try:
            return read_wav(members.read(name))[0]
        except UnreadableError:
            continue  # the conversion lists it with its reason
    return None


def _text_labels(members: Members) -> tuple[str, str | None]:
    tables = members.having(TABLE_SUFFIXES)
    if tables:
        rows = read_table(members.read(tables[0]), tables[0])
        if not rows or len(rows[0]) < 2:
            return "none", None
        named = find_column(rows[0], LABEL_COLUMNS)
        return (
            "column",
            f"labels are the column '{rows[0][named]}'" if named is not None else "labels are the last column",
        )
    names = members.texts()
    labels, told = propose_labels(members, names)
    if labels == "folder":
        return labels, f"each file is one text, {told}"
    if len(names) > 1:
        return "file", f"each line is one text, labels are the {len(names)} files' names"
    return "none", None if len(names) != 1 else "each line is one text"
