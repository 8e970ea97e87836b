from __future__ import annotations

import pytest

from core.errors import DataError
from core.intake.model import Model
from core.intake.targets import find_input, image_target, sound_target, text_targets
from tests.intake.texts import load


def model(inputs: str) -> Model:
    return load(f"g ({inputs}) => (float[1] out) <float[1] w = {{1}}> {{ out = Relu (w) }}")


@pytest.mark.parametrize(
    ("declared", "layout", "channels", "size"),
    [
        ("float[n,3,224,192] x", "NCHW", 3, (224, 192)),
        ("float[n,1,28,28] x", "NCHW", 1, (28, 28)),
        ("float[n,224,192,3] x", "NHWC", 3, (224, 192)),
        ("uint8[n,h,w,3] x", "NHWC", 3, (None, None)),
        ("float[n,c,h,w] x", "NCHW", None, (None, None)),
        ("float[3,32,32] x", "NCHW", 3, (32, 32)),
        ("int64[n,2] ids, float[n,3,8,8] x", "NCHW", 3, (8, 8)),
    ],
)
def test_the_input_of_images_is_found_by_its_shape(
    declared: str, layout: str, channels: int | None, size: tuple[int | None, int | None]
) -> None:
    target = image_target(model(declared))
    assert (target.layout, target.channels, (target.height, target.width)) == (layout, channels, size)


def test_where_no_input_takes_images_the_inputs_are_told() -> None:
    with pytest.raises(DataError, match=r"'x' takes float32 \[n, 64\]"):
        image_target(model("float[n,64] x"))
    with pytest.raises(DataError, match="No input"):
        image_target(model("float[n,64] a, float[n,3,8,8] b"), "a")


def test_the_input_of_sound_is_no_state_and_no_rate() -> None:
    assert sound_target(model("float[2,n,128] state, float[n,t] input, int64 sr")).name == "input"
    assert sound_target(model("float[n,80] features, float[n,t] waveform")).name == "waveform"
    with pytest.raises(DataError, match="takes sound"):
        sound_target(model("int64[n] ids"))


def test_the_inputs_of_tokens_are_found_by_name() -> None:
    found = text_targets(
        model("int64[b,s] input_ids, int64[b,s] attention_mask, int64[b,s] token_type_ids, int64[b,s] position_ids")
    )
    assert {role: spec.name for role, spec in found.items()} == {
        "ids": "input_ids",
        "mask": "attention_mask",
        "types": "token_type_ids",
        "positions": "position_ids",
    }
    assert text_targets(model("int32[b,s] z"))["ids"].name == "z"
    assert text_targets(model("bool[b,s] src_mask, int64[b,s] src")).keys() == {"ids", "mask"}
    assert text_targets(model("string[n] words"))["text"].name == "words"
    with pytest.raises(DataError, match="takes tokens"):
        text_targets(model("float[n,3] x"))


def test_an_unknown_input_is_refused_with_the_nearest() -> None:
    with pytest.raises(DataError, match="Did you mean 'image'"):
        find_input(model("float[n] image"), "imagee")
