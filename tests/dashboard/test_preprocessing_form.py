"""Preprocessing in fields and words: ranges have names, numbers are read as people write them."""

from __future__ import annotations

import json

import pytest

from core.errors import DataError
from core.intake.preprocessing import COLOURS, AudioPreprocessing, ImagePreprocessing, TextPreprocessing
from dashboard.preprocessing_form import (
    CUSTOM,
    RANGES,
    as_text,
    numbers,
    range_of,
    ranges_for,
    read_file,
    told,
    with_range,
)

IMAGES = ImagePreprocessing(size=(224, 224), mean=(127.0,), std=(128.0,), labels="prefix").to_dict()


@pytest.mark.parametrize("name", list(RANGES))
def test_a_named_range_is_recognized_by_its_numbers(name: str) -> None:
    assert range_of(with_range(IMAGES, name)) == name


@pytest.mark.parametrize("colour", COLOURS)
def test_every_range_that_is_offered_for_some_colours_fits_them(colour: str) -> None:
    names = ranges_for(colour)
    assert {"0 to 1", "-1 to 1"} < set(names)
    for name in names:
        made = ImagePreprocessing.from_dict(with_range({**IMAGES, "colour": colour}, name))
        assert made.to_dict()["colour"] == colour


@pytest.mark.parametrize(
    ("scale", "mean", "std", "name"),
    [
        (1.0, [123.675, 116.28, 103.53], [58.395, 57.12, 57.375], "ImageNet mean and deviation"),
        (1 / 255, [0.5, 0.5, 0.5], [0.5, 0.5, 0.5], "-1 to 1"),
        (1.0, [0.0], [255.0], "0 to 1"),
        (1.0, [104.0, 117.0, 123.0], [1.0], CUSTOM),
    ],
)
def test_the_same_range_in_other_numbers_has_the_same_name(
    scale: float, mean: list[float], std: list[float], name: str
) -> None:
    assert range_of({**IMAGES, "scale": scale, "mean": mean, "std": std}) == name


def test_numbers_are_read_as_people_write_them() -> None:
    assert numbers("0.485, 0.456, 0.406", "the mean") == [0.485, 0.456, 0.406]
    assert numbers("[127]", "the mean") == [127.0]
    assert numbers("1/255", "the scale") == [1 / 255]
    assert numbers(as_text([0.485, 1 / 3]), "the mean") == pytest.approx([0.485, 1 / 3], abs=1e-8)


@pytest.mark.parametrize("text", ["", "a lot", "1/0", "1,,x"])
def test_what_is_no_number_is_refused_with_what_it_was_for(text: str) -> None:
    with pytest.raises(DataError, match="the mean"):
        numbers(text, "the mean")


def test_every_kind_is_told_in_one_line() -> None:
    assert told(IMAGES) == (
        "224x224, shorter side to fit, middle cut out, values (pixel - 127) / 128, RGB, NCHW, "
        "labels: start of the file name"
    )
    own = {**IMAGES, "scale": 1.0, "mean": [104, 117, 123], "std": [1.0], "resize": "stretch", "crop": "none"}
    assert "stretched, values (pixel - 104, 117, 123) / 1" in told(own)
    assert told(AudioPreprocessing(rate=16000, window=512).to_dict()) == (
        "16000 Hz, windows of 512 samples, mono, labels: none"
    )
    assert told(TextPreprocessing(labels="column").to_dict()).startswith("at most 128 tokens, padded to the longest")


def test_a_saved_preprocessing_is_read_with_or_without_what_was_remarked() -> None:
    assert read_file(json.dumps({**IMAGES, "remarks": ["3 left out"]}).encode()) == IMAGES


@pytest.mark.parametrize("content", [b"\xff\xfe", b"{", b"[]", b'{"kind": "smells"}', b'{"kind": "images", "size": 3}'])
def test_a_file_that_is_no_preprocessing_is_refused(content: bytes) -> None:
    with pytest.raises(DataError):
        read_file(content)
