"""Fields of a preprocessing: what it begins with goes in, what somebody made of it comes out."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from core.intake.preprocessing import (
    CHANNELS,
    COLOURS,
    CROPS,
    FILE_LABELS,
    INTERPOLATIONS,
    LAYOUTS,
    PADDINGS,
    RESIZES,
    TEXT_LABELS,
)
from dashboard import preprocessing_form as forms

Values = Mapping[str, Any]


def draw(begin: Values, inputs: Sequence[str]) -> dict[str, Any]:
    """The fields for this kind of data.

    Args:
        begin: the preprocessing that the fields begin with.
        inputs: names of the model's inputs.

    Raises:
        DataError: a field of numbers holds something else.
    """
    fields = _Fields(begin)
    drawn = {"images": _images, "audio": _audio, "text": _text}[str(begin["kind"])](fields)
    made = {**begin, **drawn, **_input(fields, inputs)}
    return made if _same(made, begin) else {**made, "guessed": []}


class _Fields:
    """Widgets named after the settings; their keys change with what they begin with."""

    def __init__(self, begin: Values) -> None:
        self.begin = begin
        self.key = f"prepare.{zlib.crc32(json.dumps(begin, sort_keys=True).encode()):08x}"

    def choose(self, place: Any, name: str, label: str, options: Sequence[str], *, tip: str | None = None) -> str:
        """One of some words."""
        current = self.begin.get(name)
        index = options.index(current) if current in options else 0
        chosen: str = place.selectbox(
            label,
            list(options),
            index=index,
            format_func=lambda word: forms.WORDS.get(word, word),
            key=f"{self.key}.{name}",
            help=tip,
        )
        return chosen

    def whole(self, place: Any, name: str, label: str, value: int | None, *, tip: str | None = None) -> int | None:
        """A whole number from 1; None where the field may be and is empty."""
        given: int | None = place.number_input(
            label, min_value=1, step=1, value=value, key=f"{self.key}.{name}", help=tip, placeholder="to fit"
        )
        return given

    def words(
        self, place: Any, name: str, label: str, *, value: str | None = None, tip: str | None = None
    ) -> str | None:
        """A text; None where it is empty."""
        first = self.begin.get(name) if value is None else value
        given: str = place.text_input(label, value=first or "", key=f"{self.key}.{name}", help=tip)
        return given.strip() or None


def _images(fields: _Fields) -> dict[str, Any]:
    begin = fields.begin
    first, second, third = (st.columns(3) for _ in range(3))
    height = fields.whole(first[0], "height", "Height", begin["size"][0])
    width = fields.whole(first[1], "width", "Width", begin["size"][1])
    colour = fields.choose(first[2], "colour", "Colours", COLOURS)
    resize = fields.choose(second[0], "resize", "Resize", RESIZES)
    resize_to = begin.get("resize_to")
    if resize == "shorter-side":
        resize_to = fields.whole(second[1], "resize_to", "Shorter side", resize_to, tip="Empty: just large enough.")
    crop = fields.choose(second[2], "crop", "Crop", CROPS)
    layout = fields.choose(third[0], "layout", "Layout", LAYOUTS)
    interpolation = fields.choose(third[1], "interpolation", "Interpolation", INTERPOLATIONS)
    made = {
        "size": [height or begin["size"][0], width or begin["size"][1]],
        "colour": colour,
        "resize": resize,
        "resize_to": resize_to if resize == "shorter-side" else None,
        "crop": crop,
        "layout": layout,
        "interpolation": interpolation,
    }
    return {**made, **_range(fields, colour), **_labels(fields, FILE_LABELS)}


def _range(fields: _Fields, colour: str) -> dict[str, Any]:
    """Scale, mean and deviation: by the name of a common range, or in numbers."""
    known = forms.range_of(fields.begin)
    options = [*forms.ranges_for(colour), forms.CUSTOM]
    chosen = st.selectbox(
        "Values",
        options,
        index=options.index(known) if known in options else 0,
        key=f"{fields.key}.range",
        help="value = (pixel x scale - mean) / deviation, a pixel is 0 to 255. A wrong range costs accuracy silently.",
    )
    if chosen != forms.CUSTOM:
        made = forms.with_range({}, chosen)
        return made if chosen != known else {name: fields.begin[name] for name in made}
    columns = st.columns(3)
    texts = {name: forms.as_text(value if isinstance(value, list | tuple) else [value])
             for name, value in ((each, fields.begin[each]) for each in ("scale", "mean", "std"))}  # fmt: skip
    scale = fields.words(columns[0], "scale", "Scale", value=texts["scale"], tip="A number, or a fraction like 1/255.")
    mean = fields.words(columns[1], "mean", "Mean", value=texts["mean"], tip="One number, or one per colour.")
    std = fields.words(columns[2], "std", "Deviation", value=texts["std"], tip="One number, or one per colour.")
    return {
        "scale": forms.numbers(scale or "", "the scale")[0],
        "mean": forms.numbers(mean or "", "the mean"),
        "std": forms.numbers(std or "", "the deviation"),
    }


def _audio(fields: _Fields) -> dict[str, Any]:
    begin = fields.begin
    first, second = st.columns(3), st.columns(3)
    rate = fields.whole(first[0], "rate", "Rate (Hz)", begin["rate"])
    window = fields.whole(first[1], "window", "Window (samples)", begin["window"])
    hop = fields.whole(first[2], "hop", "Step (samples)", begin.get("hop"), tip="Empty: one window after the other.")
    channels = fields.choose(second[0], "channels", "Channels", CHANNELS)
    pad = second[1].checkbox("Fill the last window up", value=bool(begin["pad"]), key=f"{fields.key}.pad")
    made = {"rate": rate or begin["rate"], "window": window or begin["window"], "hop": hop, "channels": channels}
    return {**made, "pad": pad, **_labels(fields, FILE_LABELS)}


def _text(fields: _Fields) -> dict[str, Any]:
    begin = fields.begin
    first, second = st.columns(2), st.columns(2)
    longest = fields.whole(first[0], "max_length", "Most tokens", begin["max_length"])
    padding = fields.choose(first[1], "padding", "Pad", PADDINGS)
    column = fields.words(second[0], "text_column", "Column of the text", tip="Empty: the one called text.")
    label = fields.words(second[1], "label_column", "Column of the label", tip="Empty: the one called label.")
    made = {"max_length": longest or begin["max_length"], "padding": padding, "text_column": column}
    return {**made, "label_column": label, **_labels(fields, TEXT_LABELS)}


def _labels(fields: _Fields, options: Sequence[str]) -> dict[str, Any]:
    columns = st.columns(2, vertical_alignment="bottom")
    labels = fields.choose(columns[0], "labels", "Labels from", options)
    made: dict[str, Any] = {"labels": labels, "label_pattern": fields.begin.get("label_pattern")}
    made["labels_file"] = fields.begin.get("labels_file")
    if labels == "prefix":
        tip = "A regular expression with the label in one pair of brackets. Empty: what comes before the first _."
        made["label_pattern"] = fields.words(columns[1], "label_pattern", "Pattern", tip=tip)
    elif labels == "csv":
        tip = "Its name in the archive. Empty: the only one."
        made["labels_file"] = fields.words(columns[1], "labels_file", "Table", tip=tip)
    return made


def _input(fields: _Fields, inputs: Sequence[str]) -> dict[str, Any]:
    if len(inputs) < 2:
        return {}
    return {"input": fields.choose(st, "input", "Input that the files feed", list(inputs))}


def _same(one: Values, other: Values) -> bool:
    return json.dumps(one, sort_keys=True, default=list) == json.dumps(other, sort_keys=True, default=list)
