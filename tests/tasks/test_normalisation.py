from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import onnx
import pytest

from core.intake.convert import propose_preprocessing
from core.intake.load import load_model
from core.intake.model import Model
from core.intake.preprocessing import ImagePreprocessing
from core.progress import Silent
from core.runtime.settings import SessionSettings
from core.tasks.normalisation import settle_normalisation, ways
from tests.intake.sources import png, write_folder

#: The class is how bright the image is, in steps that only numbers from −1 to 1 hit: score = −(mean − centre)².
CLASSIFIER = """
<ir_version: 8, opset_import: ["" : 17]>
g (float[n,3,8,8] x) => (float[n,3] y)
<float[3] centre = {-0.9, 0.0, 0.9}>
{
    m = GlobalAveragePool (x)
    f = Flatten (m)
    w = ReduceMean <axes = [1]> (f)
    d = Sub (w, centre)
    s = Mul (d, d)
    y = Neg (s)
}
"""
LEVELS = (12, 80, 243)


def classifier() -> Model:
    return load_model(bytes(onnx.parser.parse_model(CLASSIFIER).SerializeToString()), name="m")


def photos(folder: Path, count: int = 24) -> Path:
    files = {
        f"{number % 3}_{number:02}.png": png(np.full((8, 8, 3), LEVELS[number % 3], np.uint8))
        for number in range(count)
    }
    return write_folder(folder, files)


def settle(model: Model, source: Path, how: ImagePreprocessing | None = None) -> ImagePreprocessing:
    proposed = how or propose_preprocessing(model, source)
    assert isinstance(proposed, ImagePreprocessing)
    return settle_normalisation(
        proposed, model, source, name="photos", settings=SessionSettings(), seed=0, progress=Silent()
    )


def test_the_scale_that_labelled_images_confirm_is_taken_and_told(tmp_path: Path) -> None:
    how = settle(classifier(), photos(tmp_path))
    assert (how.scale, how.mean, how.std) == (1.0, (127.5,), (127.5,))
    told = next(text for text in how.guessed if "pixels are scaled" in text)
    assert "24 of 24 labelled images get their label" in told
    assert "with mean and deviation of ImageNet" in told


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("pixels", [(8, 8), (8, 8, 3), (8, 8, 4)], ids=["grey", "RGB", "RGBA"])
def test_images_of_any_colours_are_asked_of_models_of_any_channels(
    tmp_path: Path, channels: int, pixels: tuple[int, ...]
) -> None:
    text = CLASSIFIER.replace("float[n,3,8,8]", f"float[n,{channels},8,8]")
    model = load_model(bytes(onnx.parser.parse_model(text).SerializeToString()), name="m")
    files = {}
    for number in range(24):
        image = np.full(pixels, LEVELS[number % 3], np.uint8)
        if pixels[-1] == 4:
            image[..., 3] = 255
        files[f"{number % 3}_{number:02}.png"] = png(image)
    how = settle(model, write_folder(tmp_path, files))
    assert (how.scale, how.mean, how.std, how.channels) == (1.0, (127.5,), (127.5,), channels)
    told = next(text for text in how.guessed if "pixels are scaled" in text)
    assert "24 of 24 labelled images get their label" in told
    assert ("ImageNet" in told) == (channels == 3)


@pytest.mark.parametrize("channels", [1, 3])
def test_every_way_that_is_tried_is_a_preprocessing_of_those_channels(channels: int) -> None:
    colour = "grey" if channels == 1 else "RGB"
    tried = ways(channels)
    assert len(tried) >= 4
    for _, values in tried:
        assert ImagePreprocessing(size=(8, 8), colour=colour, **values).channels == channels


def test_without_enough_labels_or_with_a_declared_scale_nothing_is_asked(tmp_path: Path) -> None:
    few = photos(tmp_path / "few", 6)
    model = classifier()
    assert settle(model, few) == propose_preprocessing(model, few)
    declared = ImagePreprocessing(size=(8, 8), labels="prefix")
    assert settle(model, photos(tmp_path / "many"), declared) is declared


@pytest.mark.parametrize("label", ["7", "1"])
def test_where_labels_are_no_classes_or_never_right_the_guess_stands(tmp_path: Path, label: str) -> None:
    source = write_folder(
        tmp_path,
        {f"{label if number else 0}_{number:02}.png": png(np.full((8, 8, 3), 250, np.uint8)) for number in range(20)},
    )
    model = classifier()
    assert settle(model, source) == propose_preprocessing(model, source)


def test_a_slow_model_is_not_asked(tmp_path: Path) -> None:
    model, source, ticks = classifier(), photos(tmp_path), itertools.count(step=5.0)
    proposed = propose_preprocessing(model, source)
    assert isinstance(proposed, ImagePreprocessing)
    settled = settle_normalisation(
        proposed,
        model,
        source,
        name="photos",
        settings=SessionSettings(),
        seed=0,
        progress=Silent(),
        clock=lambda: float(next(ticks)),
    )
    assert settled is proposed


def test_a_model_that_does_not_run_leaves_the_guess(tmp_path: Path) -> None:
    broken = load_model(
        bytes(onnx.parser.parse_model(CLASSIFIER.replace("Neg (s)", "Nonsense (s)")).SerializeToString()),
        name="m",
        strict=False,
    )
    source = photos(tmp_path)
    assert settle(broken, source) == propose_preprocessing(broken, source)
