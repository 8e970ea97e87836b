"""Normalisation: which of the usual ways to scale pixels a classifier was trained with, asked of a few labelled images.

A wrong scale raises no error, it only costs accuracy. Where images have labels and the model gives one number per
class, a handful of them tells the ways apart; where it does not, the guess stands.
"""

from __future__ import annotations

import dataclasses
import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import RunError
from core.intake.guess import IMAGENET_MEAN, IMAGENET_STD, SCALE_GUESSED
from core.intake.images import image_array, prepare_image
from core.intake.images_reader import ImageReader
from core.intake.members import UnreadableError, open_members
from core.intake.model import Model
from core.intake.preprocessing import ImagePreprocessing
from core.progress import Progress
from core.runtime.session import Session, open_session, run_session
from core.runtime.settings import SessionSettings

_IMAGES = 48
_FEWEST = 12
_SECONDS = 15.0
_MOST_CLASSES = 100_000
#: Below this share no way is the right one, or the labels number other classes.
_LEAST_RIGHT = 0.2

Way = tuple[str, Mapping[str, Any]]

#: Name, then scale, mean and deviation; the more usual earlier, which wins where several are equally right.
_WAYS: tuple[Way, ...] = (
    ("mean and deviation of ImageNet", {"scale": 1 / 255, "mean": IMAGENET_MEAN, "std": IMAGENET_STD}),
    ("−1 to 1, (pixel − 127.5) / 127.5", {"scale": 1.0, "mean": (127.5,), "std": (127.5,)}),
    ("(pixel − 127) / 128", {"scale": 1.0, "mean": (127.0,), "std": (128.0,)}),
    ("0 to 1", {"scale": 1 / 255, "mean": (0.0,), "std": (1.0,)}),
    ("0 to 255", {"scale": 1.0, "mean": (0.0,), "std": (1.0,)}),
)
_GREY_WAYS: tuple[Way, ...] = (
    ("mean and deviation of MNIST", {"scale": 1 / 255, "mean": (0.1307,), "std": (0.3081,)}),
)


def ways(channels: int) -> tuple[Way, ...]:
    """The usual ways for pixels of so many numbers: one of three means is none for grey."""
    fit = [(name, values) for name, values in _WAYS if len(values["mean"]) in (1, channels)]
    return (*fit, *(_GREY_WAYS if channels == 1 else ()))


def settle_normalisation(
    how: ImagePreprocessing,
    model: Model,
    source: Path,
    *,
    name: str,
    settings: SessionSettings,
    seed: int,
    progress: Progress,
    clock: Callable[[], float] = time.monotonic,
) -> ImagePreprocessing:
    """The preprocessing with the scale that gives the most right answers, and a sentence that says how many.

    Unchanged where its scale was not guessed, the labels are not numbers of classes, or no way is better than chance.

    Args:
        how: as proposed.
        model: a classifier, or not: then nothing is asked.
        source: folder, archive or file of the images.
        name: how the source is called.
        settings: how the model is run.
        seed: of the choice of images.
        progress: is told which way is tried.
        clock: seconds: as many images are asked as some seconds allow.
    """
    if not any(SCALE_GUESSED in text for text in how.guessed):
        return how
    with open_members(source, name=name) as members:
        reader = ImageReader(members, model, how)
        labelled = [item for item in reader.items if re.fullmatch(r"\d{1,6}", item.label)]
        if len(labelled) < _FEWEST or len({item.label for item in labelled}) < 2 or how.constants:
            return how
        order = np.random.default_rng(seed).permutation(len(labelled))[:_IMAGES].tolist()
        images, labels = [], []
        for item in (labelled[index] for index in order):
            try:
                images.append(prepare_image(members.read(item.file), how))
            except UnreadableError:
                continue  # the conversion lists it with its reason
            labels.append(int(item.label))
    if len(images) < _FEWEST:
        return how
    try:
        session = open_session(model.serialize(), settings, timed=False)
        affordable = _affordable(session, reader, images[0], clock)
        if affordable < _FEWEST:
            return how
        asked = min(affordable, len(images))
        right = _ask_all(session, reader, images[:asked], labels[:asked], progress)
    except RunError:
        return how
    return how if right is None else _decide(how, right, asked)


def _affordable(session: Session, reader: ImageReader, image: Any, clock: Callable[[], float]) -> int:
    """How many images can be asked in time, judged by the second of two runs."""
    feed = _feed(reader, reader.how, image)
    run_session(session, feed)
    start = clock()
    run_session(session, feed)
    return int(_SECONDS / (max(clock() - start, 1e-6) * len(ways(reader.how.channels))))


def _feed(reader: ImageReader, how: ImagePreprocessing, image: Any) -> dict[str, Any]:
    spec = reader.target.spec
    array = image_array(image, how, np.dtype(spec.dtype))
    return {spec.name: array[np.newaxis] if len(spec.shape or ()) == 4 else array}


def _ask_all(
    session: Session,
    reader: ImageReader,
    images: Sequence[Any],
    labels: Sequence[int],
    progress: Progress,
) -> list[int] | None:
    """Right answers of each way; None where the model's outputs are no classes with these labels."""
    counts = []
    tried = ways(reader.how.channels)
    for number, (name, values) in enumerate(tried):
        progress.step(number, len(tried), name)
        how = dataclasses.replace(reader.how, **values)
        right = 0
        for image, label in zip(images, labels, strict=True):
            answer = _classes(run_session(session, _feed(reader, how, image)), max(labels))
            if answer is None:
                return None
            right += int(answer.argmax()) == label
        counts.append(right)
    return counts


def _classes(outputs: Mapping[str, Any], highest: int) -> np.ndarray[Any, Any] | None:
    """The numbers of the classes, where an output has one for each label."""
    for value in outputs.values():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.ndim >= 2 and len(value) == 1:
            numbers = value.reshape(-1)
            if highest < numbers.size == value.shape[1] <= _MOST_CLASSES:
                return numbers
    return None


def _decide(how: ImagePreprocessing, right: Sequence[int], asked: int) -> ImagePreprocessing:
    """Takes the way with the most right answers, the guessed one where none is better or all are hardly ever right."""
    best = max(range(len(right)), key=lambda index: right[index])
    if right[best] < max(asked * _LEAST_RIGHT, 3):
        return how
    tried = ways(how.channels)
    name, values = tried[best]
    said = f"{SCALE_GUESSED} by {name}: {right[best]} of {asked} labelled images get their label"
    others = ", ".join(f"{count} with {other}" for (other, _), count in zip(tried, right, strict=True) if other != name)
    guessed = tuple(f"{said} ({others})" if SCALE_GUESSED in text else text for text in how.guessed)
    return dataclasses.replace(how, **values, guessed=guessed)
