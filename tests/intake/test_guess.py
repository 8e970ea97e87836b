from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.intake.convert import propose_preprocessing
from core.intake.preprocessing import AudioPreprocessing, ImagePreprocessing, TextPreprocessing
from tests.intake.sources import pixels, png, tokenizer, wav, write_folder
from tests.intake.texts import load

PHOTOS = {"0001_cat.png": png(pixels(300, 400)), "0002_dog.png": png(pixels(250, 300))}


def model(declared: str) -> Any:
    return load(f"g ({declared} x) => ({declared} y) {{ y = Identity (x) }}")


def images(folder: Path, declared: str, files: dict[str, bytes] | None = None, **options: Any) -> ImagePreprocessing:
    how = propose_preprocessing(model(declared), write_folder(folder, files or PHOTOS), **options)
    assert isinstance(how, ImagePreprocessing)
    return how


def test_photos_are_cut_from_the_middle_and_scaled_like_imagenet_and_all_of_it_is_told(tmp_path: Path) -> None:
    how = images(tmp_path, "float[n,3,224,224]")
    assert (how.size, how.resize, how.resize_to, how.crop) == ((224, 224), "shorter-side", 256, "center")
    assert (how.layout, how.colour, how.labels, how.input) == ("NCHW", "RGB", "prefix", "x")
    assert (how.scale, how.mean) == (1 / 255, (0.485, 0.456, 0.406))
    told = "; ".join(how.guessed)
    for part in ("256", "RGB", "ImageNet", "numbers that file names begin with"):
        assert part in told


def test_images_that_have_the_size_are_not_resized(tmp_path: Path) -> None:
    how = images(tmp_path, "float[n,3,8,8]", {"a.png": png(pixels()), "b.png": png(pixels())})
    assert (how.size, how.resize_to) == ((8, 8), None)
    assert not any("side" in text for text in how.guessed)


def test_an_open_size_is_that_of_the_images_else_what_was_given_or_runs(tmp_path: Path) -> None:
    same = {"a.png": png(pixels(40, 60)), "b.png": png(pixels(40, 60))}
    how = images(tmp_path / "same", "float[n,3,h,w]", same)
    assert how.size == (40, 60)
    assert "40 x 60, as the images have it" in how.guessed[0]
    assert images(tmp_path, "float[n,3,h,w]").size == (224, 224)
    assert images(tmp_path, "float[n,3,h,w]", proposal={"x": (1, 3, 48, 320)}).size == (48, 320)
    given = images(tmp_path / "same", "float[n,3,h,w]", same, shapes={"x": (1, 3, 96, 64)})
    assert given.size == (96, 64)
    assert not any("open" in text for text in given.guessed)


def test_other_shapes_and_types_have_other_scales(tmp_path: Path) -> None:
    last = images(tmp_path, "float[n,32,48,3]")
    assert (last.layout, last.size, last.resize, last.mean, last.std) == (
        "NHWC",
        (32, 48),
        "stretch",
        (127.5,),
        (127.5,),
    )
    grey = images(tmp_path, "float[n,1,28,28]")
    assert (grey.colour, grey.scale, grey.mean, grey.resize_to) == ("grey", 1 / 255, (0.0,), None)
    whole = images(tmp_path, "uint8[n,32,32,3]")
    assert (whole.scale, whole.mean, whole.std) == (1.0, (0.0,), (1.0,))


def test_a_model_that_scales_pixels_itself_gets_them_as_they_are(tmp_path: Path) -> None:
    scaling = load(
        "g (float[n,3,32,32] x) => (float[n,3,32,32] y) <float[1] m = {127}, float[1] s = {128}>"
        " { c = Sub (x, m) y = Div (c, s) }"
    )
    how = propose_preprocessing(scaling, write_folder(tmp_path, PHOTOS))
    assert isinstance(how, ImagePreprocessing)
    assert (how.scale, how.mean) == (1.0, (0.0,))
    assert any("0 to 255" in text for text in how.guessed)


def test_damaged_images_do_not_hinder_a_proposal(tmp_path: Path) -> None:
    assert images(tmp_path, "float[n,3,8,8]", {"a.png": b"nothing", "b.png": png(pixels())}).size == (8, 8)


def test_sound_takes_its_rate_from_the_files_unless_the_model_is_told_one(tmp_path: Path) -> None:
    source = write_folder(tmp_path, {"a.wav": wav(np.zeros(99, np.int16), 8000)})
    how = propose_preprocessing(model("float[n,1,400]"), source)
    assert isinstance(how, AudioPreprocessing)
    assert (how.rate, how.window, how.constants) == (8000, 400, {})
    told = load("g (float[n,t] input, float[2,n,128] state, int64 sr) => (float[n,t] y) { y = Relu (input) }")
    how = propose_preprocessing(told, source)
    assert isinstance(how, AudioPreprocessing)
    assert (how.rate, how.window, how.constants) == (16_000, 512, {"state": 0, "sr": 16_000})
    assert "input 'sr' is fed with 16000 throughout" in how.guessed
    long = propose_preprocessing(model("float[n,t]"), source)
    assert isinstance(long, AudioPreprocessing)
    assert long.window == 8000


def test_texts_take_length_from_model_tokenizer_or_habit(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "data", {"t.csv": b"text,label\ngood,1\n"})
    plain = tokenizer(tmp_path / "plain.json")
    cutting = {"direction": "Right", "max_length": 5, "strategy": "LongestFirst", "stride": 0}
    lengths = []
    for declared, path in (
        ("int64[b,s]", plain),
        ("int64[b,s]", tokenizer(tmp_path / "five.json", truncation=cutting)),
        ("int64[b,6]", plain),
    ):
        how = propose_preprocessing(model(declared), source, tokenizer=path)
        assert isinstance(how, TextPreprocessing)
        lengths.append((how.max_length, how.padding))
        assert how.labels == "column"
    assert lengths == [(128, "longest"), (5, "longest"), (6, "max_length")]


@pytest.mark.parametrize(
    ("files", "labels"),
    [
        ({"t.csv": b"good\nbad\n"}, "none"),
        ({"a.txt": b"x", "b.txt": b"y"}, "file"),
        ({"pos/a.txt": b"x", "neg/b.txt": b"y"}, "folder"),
        ({"a.txt": b"x"}, "none"),
    ],
)
def test_where_the_labels_of_texts_are_is_proposed(tmp_path: Path, files: dict[str, bytes], labels: str) -> None:
    how = propose_preprocessing(
        model("int64[b,s]"), write_folder(tmp_path / "d", files), tokenizer=tokenizer(tmp_path / "t.json")
    )
    assert how.labels == labels
