from __future__ import annotations

import json
from typing import Any

import pytest

from core.errors import DataError
from core.intake.preprocessing import (
    AudioPreprocessing,
    ImagePreprocessing,
    Preprocessing,
    TextPreprocessing,
)

IMAGES = {"kind": "images", "size": [224, 192]}
AUDIO = {"kind": "audio", "rate": 16_000, "window": 512}
TEXT = {"kind": "text"}


def refusal(given: Any) -> DataError:
    with pytest.raises(DataError) as refused:
        Preprocessing.from_dict(given)
    assert "\n" not in refused.value.message
    return refused.value


@pytest.mark.parametrize(
    "how",
    [
        ImagePreprocessing(size=(224, 192), mean=(1.0, 2.0, 3.0), std=(0.5,), colour="BGR", classes=("a", "b")),
        AudioPreprocessing(rate=8000, window=256, hop=128, pad=True, constants={"sr": 8000, "state": [[0.0]]}),
        TextPreprocessing(max_length=64, padding="max_length", text_column="review", guessed=("a guess",)),
    ],
)
def test_what_is_written_is_read_again(how: Preprocessing) -> None:
    assert Preprocessing.from_dict(json.loads(json.dumps(how.to_dict()))) == how


def test_settings_left_out_have_defaults_and_numbers_stand_for_lists() -> None:
    how = Preprocessing.from_dict({**IMAGES, "mean": 127, "std": 128})
    assert isinstance(how, ImagePreprocessing)
    assert (how.size, how.mean, how.std, how.scale, how.colour) == ((224, 192), (127,), (128,), 1.0, "RGB")


def test_a_scale_may_be_a_fraction() -> None:
    how = Preprocessing.from_dict({**IMAGES, "scale": "1/255"})
    assert isinstance(how, ImagePreprocessing)
    assert how.scale == 1 / 255


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([1], "is a JSON object"),
        ({"kind": "video"}, "'video'"),
        ({"kind": "images"}, "'size'"),
        ({**IMAGES, "version": 2}, "version 2"),
        ({**IMAGES, "sise": 3}, "Did you mean 'size'"),
        ({**IMAGES, "size": [224]}, "'size'"),
        ({**IMAGES, "size": 224}, "a list"),
        ({**IMAGES, "size": [0, 224]}, "'size'"),
        ({**IMAGES, "size": [224, 10**9]}, "'size'"),
        ({**IMAGES, "layout": "NHCW"}, "Did you mean 'NHWC'"),
        ({**IMAGES, "mean": [1, 2]}, "'mean'"),
        ({**IMAGES, "mean": ["a"]}, "'mean'"),
        ({**IMAGES, "std": 0}, "'std'"),
        ({**IMAGES, "scale": "1/0"}, "'scale'"),
        ({**IMAGES, "scale": float("nan")}, "'scale'"),
        ({**IMAGES, "background": 256}, "'background'"),
        ({**IMAGES, "resize_to": 100}, "too small"),
        ({**IMAGES, "labels": "column"}, "'labels'"),
        ({**IMAGES, "label_pattern": "("}, "cannot be read"),
        ({**IMAGES, "label_pattern": "(a)(b)"}, "2 groups"),
        ({**IMAGES, "classes": ["a", "a"]}, "twice"),
        ({**IMAGES, "classes": [1]}, "'classes'"),
        ({**IMAGES, "constants": [1]}, "'constants'"),
        ({**IMAGES, "input": 3}, "'input'"),
        ({**AUDIO, "rate": 0}, "'rate'"),
        ({**AUDIO, "window": True}, "'window'"),
        ({**AUDIO, "hop": -1}, "'hop'"),
        ({**AUDIO, "pad": "yes"}, "'pad'"),
        ({**TEXT, "max_length": 0}, "'max_length'"),
        ({**TEXT, "text_column": 1}, "'text_column'"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(given: Any, said: str) -> None:
    assert said in refusal(given).message
