"""Preprocessing: how images, sound or text become a model's inputs; declared in JSON, kept with the data it made.

Images: value = (pixel × scale − mean) / std, for each channel in the order in which the model takes them; a pixel is
0..255. Sound: samples in −1..1 at `rate` Hz, cut into windows. Text: tokens of a tokenizer.json, padded.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from core.errors import DataError, did_you_mean

VERSION = 1

RESIZES = ("shorter-side", "longer-side", "stretch", "none")
CROPS = ("center", "none")
LAYOUTS = ("NCHW", "NHWC")
COLOURS = ("RGB", "BGR", "grey")
INTERPOLATIONS = ("bilinear", "bicubic", "lanczos", "nearest")
FILE_LABELS = ("folder", "csv", "prefix", "none")
TEXT_LABELS = ("column", "folder", "file", "none")
CHANNELS = ("mono", "keep")
PADDINGS = ("longest", "max_length")

#: Of one side, in pixels; of a text, in tokens; of a window, in samples; of sound, in Hz.
_LARGEST_SIDE = 16_384
_LONGEST_TEXT = 65_536
_LONGEST_WINDOW = 100_000_000
_HIGHEST_RATE = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Preprocessing:
    """What every kind declares.

    `input` is fed from the files (None: the one that fits). `constants` feed the other inputs, the same for every
    sample: a number fills the input's shape, nested lists are the array itself, {"value", "shape"} fills that shape.
    `classes` are the names of the labels in the order of the model's outputs; empty: names are numbered in order.
    `guessed` are sentences: what a proposal took for granted.
    """

    kind: ClassVar[str] = ""
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    input: str | None = None
    labels: str = "none"
    label_pattern: str | None = None
    labels_file: str | None = None
    classes: tuple[str, ...] = ()
    constants: Mapping[str, Any] = field(default_factory=dict)
    guessed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, allowed in self.choices.items():
            _one_of(name, getattr(self, name), allowed)
        if not isinstance(self.constants, Mapping):
            raise _wrong("constants", "an object of inputs and their values", self.constants)
        for name in ("input", "label_pattern", "labels_file"):
            if not isinstance(getattr(self, name), str | None):
                raise _wrong(name, "a text", getattr(self, name))
        for name in ("classes", "guessed"):
            if not all(isinstance(text, str) for text in getattr(self, name)):
                raise _wrong(name, "a list of texts", list(getattr(self, name)))
        if len(set(self.classes)) < len(self.classes):
            raise DataError("The preprocessing names a class twice.", hint="Give each entry of 'classes' once.")
        _check_pattern(self.label_pattern)

    def to_dict(self) -> dict[str, Any]:
        """As JSON: "version", "kind" and every setting."""
        values = {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}
        return {"version": VERSION, "kind": self.kind, **{name: _plain(value) for name, value in values.items()}}

    @staticmethod
    def from_dict(given: Any) -> Preprocessing:
        """Reads what `to_dict` wrote or a person did; settings left out have their defaults.

        Raises:
            DataError: another version, an unknown kind or setting, or a value that cannot be.
        """
        if not isinstance(given, Mapping):
            raise DataError(
                "A preprocessing is a JSON object.", hint='For example {"kind": "images", "size": [224, 224]}.'
            )
        if given.get("version", VERSION) != VERSION:
            message = f"The preprocessing has version {given['version']!r}; this Mixdesk reads version {VERSION}."
            raise DataError(message, hint="Update Mixdesk, or write the file again.")
        kinds = {each.kind: each for each in (ImagePreprocessing, AudioPreprocessing, TextPreprocessing)}
        kind = given.get("kind")
        if kind not in kinds:
            raise DataError(f"The preprocessing has the kind {kind!r}.", hint=f"Kinds: {', '.join(kinds)}.")
        return _read(kinds[kind], {name: value for name, value in given.items() if name not in ("version", "kind")})


def declared(given: Any) -> Preprocessing:
    """A preprocessing that somebody gives: what a proposal once guessed in it is declared now, and may be edited.

    Raises:
        DataError: as `Preprocessing.from_dict`.
    """
    return dataclasses.replace(Preprocessing.from_dict(given), guessed=())


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePreprocessing(Preprocessing):
    """Images of any size become arrays of one size.

    `size` is (height, width) as the model takes it. `resize` first brings the shorter side to `resize_to` (None: just
    large enough), the longer side to the size (the rest is padded), both sides to the size, or leaves the image alone;
    `crop` then cuts the middle. Transparent pixels and padding get the grey `background` (0..255).
    """

    kind: ClassVar[str] = "images"
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "resize": RESIZES,
        "crop": CROPS,
        "layout": LAYOUTS,
        "colour": COLOURS,
        "interpolation": INTERPOLATIONS,
        "labels": FILE_LABELS,
    }

    size: tuple[int, ...]
    resize: str = "shorter-side"
    resize_to: int | None = None
    crop: str = "center"
    interpolation: str = "bilinear"
    scale: float = 1.0
    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)
    layout: str = "NCHW"
    colour: str = "RGB"
    background: int = 255

    def __post_init__(self) -> None:
        Preprocessing.__post_init__(self)
        if len(self.size) != 2 or not all(_whole(side, 1, _LARGEST_SIDE) for side in self.size):
            raise _wrong("size", f"[height, width], each 1 to {_LARGEST_SIDE}", list(self.size))
        if self.resize_to is not None and not _whole(self.resize_to, 1, _LARGEST_SIDE):
            raise _wrong("resize_to", "a number of pixels", self.resize_to)
        if self.resize == "shorter-side" and self.resize_to is not None and self.resize_to < min(self.size):
            message = f"A shorter side of {self.resize_to} is too small to cut {self.size[0]} x {self.size[1]} from it."
            raise DataError(f"The preprocessing does not work: {message}", hint="Give a larger 'resize_to'.")
        if not _whole(self.background, 0, 255):
            raise _wrong("background", "a grey level 0 to 255", self.background)
        for name in ("mean", "std"):
            values = getattr(self, name)
            if len(values) not in (1, self.channels) or not all(_finite(value) for value in values):
                raise _wrong(name, f"one number, or {self.channels} for {self.colour}", list(values))
        if not _finite(self.scale) or not all(self.std):
            raise DataError("The preprocessing has a 'scale' that is no number, or a 'std' of 0.", hint="Correct it.")

    @property
    def channels(self) -> int:
        """How many numbers a pixel has."""
        return 1 if self.colour == "grey" else 3


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioPreprocessing(Preprocessing):
    """Sound of any rate becomes windows of one length.

    Sound is resampled to `rate` Hz and cut every `hop` samples into windows of `window` samples; a rest that fills no
    window is dropped, unless `pad` fills it up with silence. `channels` says whether several are averaged or kept.
    """

    kind: ClassVar[str] = "audio"
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"channels": CHANNELS, "labels": FILE_LABELS}

    rate: int
    window: int
    hop: int | None = None
    channels: str = "mono"
    pad: bool = False

    def __post_init__(self) -> None:
        Preprocessing.__post_init__(self)
        for name, most in (("rate", _HIGHEST_RATE), ("window", _LONGEST_WINDOW), ("hop", _LONGEST_WINDOW)):
            value = getattr(self, name)
            if not _whole(value, 1, most) and not (name == "hop" and value is None):
                raise _wrong(name, f"a whole number from 1 to {most}", value)
        if not isinstance(self.pad, bool):
            raise _wrong("pad", "true or false", self.pad)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPreprocessing(Preprocessing):
    """Texts become tokens: cut to `max_length`, padded to the longest text or always to `max_length`.

    Inputs are filled by name: ids, attention mask, token types, positions. `text_column` and `label_column` name
    columns of a table; None: those called "text" and "label", else the first and the last.
    """

    kind: ClassVar[str] = "text"
    choices: ClassVar[Mapping[str, tuple[str, ...]]] = {"padding": PADDINGS, "labels": TEXT_LABELS}

    max_length: int = 128
    padding: str = "longest"
    text_column: str | None = None
    label_column: str | None = None

    def __post_init__(self) -> None:
        Preprocessing.__post_init__(self)
        if not _whole(self.max_length, 1, _LONGEST_TEXT):
            raise _wrong("max_length", f"a number of tokens from 1 to {_LONGEST_TEXT}", self.max_length)
        for name in ("text_column", "label_column"):
            if not isinstance(getattr(self, name), str | None):
                raise _wrong(name, "the name of a column", getattr(self, name))


def _read(kind: type[Preprocessing], given: Mapping[str, Any]) -> Preprocessing:
    """The value with lists as tuples, numbers alone where a list is meant, and "1/255" as a number."""
    known = {each.name: each for each in dataclasses.fields(kind)}
    values: dict[str, Any] = {}
    for name, value in given.items():
        if name not in known:
            message = f"A preprocessing of {kind.kind} has no setting '{name}'.{did_you_mean(str(name), known)}"
            raise DataError(message, hint=f"Settings: {', '.join(known)}.")
        values[name] = _value(name, value, is_list=str(known[name].type).startswith("tuple"))
    for name, each in known.items():
        needed = each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING
        if needed and name not in values:
            raise DataError(f"The preprocessing of {kind.kind} does not say its '{name}'.", hint=f"Add '{name}' to it.")
    return kind(**values)


def _value(name: str, value: Any, *, is_list: bool) -> Any:
    if name == "scale" and isinstance(value, str):
        try:
            return float(Fraction(value))
        except (ValueError, ZeroDivisionError) as error:
            raise _wrong(name, 'a number or a fraction like "1/255"', value) from error
    if is_list:
        if name in ("mean", "std") and isinstance(value, int | float):
            return (value,)
        if not isinstance(value, list | tuple):
            raise _wrong(name, "a list", value)
        return tuple(value)
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return {str(key): _plain(each) for key, each in value.items()} if isinstance(value, Mapping) else value


def _check_pattern(pattern: str | None) -> None:
    try:
        groups = 0 if pattern is None else re.compile(pattern).groups
    except re.error as error:
        raise DataError(f"The pattern {pattern!r} of the labels cannot be read: {error}.") from error
    if groups > 1:
        raise DataError(
            f"The pattern {pattern!r} has {groups} groups.", hint="Mark the label with one pair of brackets."
        )


def _one_of(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        near = did_you_mean(str(value), allowed)
        raise DataError(f"'{name}' of the preprocessing is {value!r}.{near}", hint=f"Possible: {', '.join(allowed)}.")


def _wrong(name: str, wanted: str, value: Any) -> DataError:
    return DataError(
        f"'{name}' of the preprocessing must be {wanted}, not {value!r}.", hint="Correct the preprocessing."
    )


def _whole(value: Any, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
