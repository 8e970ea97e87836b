"""Conversion: images, sound or text become an NPZ that fits the model and says how it was made."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil

from core.errors import DataError
from core.intake.audio_reader import AudioReader
from core.intake.constants import constant_feeds
from core.intake.feeds import LABEL_KEY, LABEL_KEY_BESIDE_INPUT, PREPROCESSING_KEY, Array, write_npz
from core.intake.fit import check_symbols, refuse_missing, stack_samples
from core.intake.guess import guess_audio, guess_images, guess_text
from core.intake.images_reader import ImageReader
from core.intake.labels import number_labels
from core.intake.members import (
    TOKENIZER,
    Kind,
    Members,
    UnreadableError,
    held,
    kind_of,
    kind_of_members,
    open_members,
)
from core.intake.model import Model
from core.intake.preprocessing import AudioPreprocessing, ImagePreprocessing, Preprocessing, TextPreprocessing
from core.intake.reading import Item, Reader
from core.intake.targets import image_target, sound_target, text_targets
from core.intake.texts_reader import TextReader
from core.progress import Progress, Silent

__all__ = ["Converted", "PreviewSample", "convert_data", "kind_of", "preview", "propose_preprocessing"]

#: Of the free memory: reading, comparing and calibrating need the rest.
_MEMORY_SHARE = 0.25
_TOLD = 5
_TARGETS: Mapping[Kind, Callable[[Model], object]] = {
    "images": image_target,
    "audio": sound_target,
    "text": text_targets,
}
_NOUNS: Mapping[Kind, str] = {"npz": "arrays", "images": "images", "audio": "sound", "text": "text"}


@dataclass(frozen=True, slots=True)
class Converted:
    """An NPZ made from other files. `remarks` are sentences: guesses, files left out, texts cut, samples chosen."""

    path: Path
    samples: int
    labels: bool
    preprocessing: Preprocessing
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PreviewSample:
    """One sample as people see it and as the model does. `note` says why it cannot be read; then the rest is empty."""

    name: str
    label: str
    thumbnail: bytes | None = field(default=None, repr=False)
    text: str | None = None
    shape: tuple[int, ...] = ()
    minimum: float | None = None
    mean: float | None = None
    maximum: float | None = None
    note: str | None = None


def propose_preprocessing(
    model: Model,
    source: Path,
    *,
    tokenizer: Path | None = None,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
    proposal: Mapping[str, tuple[int, ...]] | None = None,
    name: str | None = None,
) -> Preprocessing:
    """A sane preprocessing where nobody declared one; its `guessed` says what was taken for granted.

    Args:
        model: whose inputs are to be fed.
        source: a folder, a .zip or a single file.
        tokenizer: the model's tokenizer.json, for texts.
        shapes: sizes of inputs that are decided already.
        proposal: sizes of inputs that are known to run, for what the files do not say.
        name: how the source is called, where its path does not say it.

    Raises:
        DataError: the source holds no images, sound or text, or no input takes such.
    """
    with open_members(source, name=name) as members:
        kind = kind_of_members(members)
        if kind == "npz":
            raise _is_prepared(members.label)
        _check_taken(model, members, kind)
        if kind == "images":
            return guess_images(model, members, shapes or {}, proposal)
        if kind == "audio":
            return guess_audio(model, members, shapes or {}, proposal)
        return guess_text(model, members, tokenizer)


def preview(
    source: Path,
    model: Model,
    preprocessing: Preprocessing,
    *,
    tokenizer: Path | None = None,
    count: int = 8,
    name: str | None = None,
) -> tuple[PreviewSample, ...]:
    """The first samples, evenly spread over the source, as people see them and as the model does.

    A sample that cannot be read is listed with the reason.

    Raises:
        DataError: the preprocessing does not fit the model or the source.
    """
    with open_members(source, name=name) as members:
        reader = _open_reader(members, model, preprocessing, tokenizer)
        step = max(len(reader.items) // max(count, 1), 1)
        chosen = reader.items[::step][:count]
        reader.begin(chosen)
        return tuple(_preview(reader, item) for item in chosen)


def convert_data(
    source: Path,
    model: Model,
    preprocessing: Preprocessing,
    *,
    out: Path,
    tokenizer: Path | None = None,
    limit: int | None = None,
    seed: int = 0,
    name: str | None = None,
    progress: Progress | None = None,
) -> Converted:
    """Writes an NPZ of the samples of a source; the same source and settings give the same file.

    Args:
        source: a folder, a .zip or a single file.
        model: whose inputs are fed.
        preprocessing: how.
        out: the NPZ to write.
        tokenizer: the model's tokenizer.json, for texts.
        limit: take this many samples, chosen by `seed`; None takes all that fit into a quarter of the free memory.
        seed: of the choice.
        name: how the source is called, where its path does not say it.
        progress: is told which sample is read.

    Raises:
        DataError: the preprocessing does not fit, nothing can be read, or a limit that was asked does not fit into
            memory.
    """
    with open_members(source, name=name) as members:
        reader = _open_reader(members, model, preprocessing, tokenizer)
        reader.remarks[:0] = [f"The preprocessing was guessed: {'; '.join(reader.how.guessed)}."] * bool(
            reader.how.guessed
        )
        chosen = _choose(reader, model, members.label, limit, seed)
        reader.begin(chosen)
        arrays, read = _read_all(reader, model, chosen, progress or Silent())
    how = reader.how
    if how.labels != "none":
        labels, classes = number_labels([item.label for item in read], (item.label for item in reader.items), how)
        if classes and not how.classes:
            reader.remarks.append(_numbering(classes))
        how = dataclasses.replace(how, classes=classes)
        arrays[LABEL_KEY_BESIDE_INPUT if LABEL_KEY in arrays else LABEL_KEY] = labels
    document = {**how.to_dict(), "remarks": list(reader.remarks)}
    text = np.array(json.dumps(document, sort_keys=True))
    write_npz(out, {**arrays, PREPROCESSING_KEY: text}, level=1)
    return Converted(out, len(read), how.labels != "none", how, tuple(reader.remarks))


def tokenizer_beside(*paths: Path | None) -> Path | None:
    """The first tokenizer.json that belongs to one of these files or lies in one of these folders.

    Beside `name.onnx` that is `name.tokenizer.json`, `tokenizer.json`, or either of them under `data/`.
    """
    for path in paths:
        if path is not None:
            found = next((place for place in _tokenizer_places(path) if place.is_file()), None)
            if found is not None:
                return found
    return None


def _tokenizer_places(path: Path) -> tuple[Path, ...]:
    if path.is_dir():
        return (path / TOKENIZER,)
    own, data = f"{path.stem}.{TOKENIZER}", path.parent / "data"
    return (path.parent / own, path.parent / TOKENIZER, data / path.stem / TOKENIZER, data / own)


def _check_taken(model: Model, members: Members, kind: Kind) -> None:
    """Whether an input takes this kind of data; says what was found, and what the model takes."""
    try:
        _TARGETS[kind](model)
    except DataError as error:
        found = f"'{members.label}' holds {held(members.names)}, which is taken for {_NOUNS[kind]}"
        fitting = [f"{_NOUNS[other]}, best as a .zip" for other in _TARGETS if _takes(model, other)][:1]
        wanted = "; or ".join([*fitting, "prepared arrays as .npz"])
        raise DataError(f"{found}. {error.message}", hint=f"Give {wanted}.") from error


def _takes(model: Model, kind: Kind) -> bool:
    try:
        _TARGETS[kind](model)
    except DataError:
        return False
    return True


def _open_reader(members: Members, model: Model, how: Preprocessing, tokenizer: Path | None) -> Reader:
    kind = kind_of_members(members)
    if kind == "npz":
        raise _is_prepared(members.label)
    if kind != how.kind:
        message = f"'{members.label}' holds {_NOUNS[kind]}, but the preprocessing is one of {how.kind}."
        raise DataError(message, hint="Give the preprocessing that belongs to this data, or none.")
    reader = _reader(members, model, how, tokenizer)
    if not reader.items:
        raise DataError(f"'{members.label}' holds no samples.", hint="Check the data and the labels' table.")
    return reader


def _reader(members: Members, model: Model, how: Preprocessing, tokenizer: Path | None) -> Reader:
    if isinstance(how, ImagePreprocessing):
        return ImageReader(members, model, how)
    if isinstance(how, AudioPreprocessing):
        return AudioReader(members, model, how)
    assert isinstance(how, TextPreprocessing)
    return TextReader(members, model, how, tokenizer)


def _choose(reader: Reader, model: Model, label: str, limit: int | None, seed: int) -> Sequence[Item]:
    """The samples to take, in their order: all, those of the limit, or those that memory allows; checks the first."""
    first = _first_readable(reader)
    feeds = {**first, **constant_feeds(model, reader.how.constants, first)}
    refuse_missing(model, list(feeds))
    check_symbols(model, {spec.name: stack_samples(spec, feeds[spec.name][np.newaxis]) for spec in model.inputs})
    each = sum(array.nbytes for array in feeds.values())
    free = psutil.virtual_memory().available * _MEMORY_SHARE
    fit, wanted = int(free // max(each, 1)), min(limit or len(reader.items), len(reader.items))
    if wanted > fit and (limit is not None or not fit):
        needed = f"{wanted:,} samples need {wanted * each / 1e9:.1f} GB"
        message = f"{needed}, but only {free / 1e9:.1f} GB of memory are to spare."
        raise DataError(message, hint=f"Ask for {fit:,} samples at the most." if fit else "Take smaller inputs.")
    if wanted > fit:
        sizes = f"'{label}' has {wanted:,} samples of {each / 1e6:.1f} MB"
        reader.remarks.append(f"{sizes}; {fit:,} fit into memory and were chosen by chance.")
    elif wanted < len(reader.items):
        reader.remarks.append(f"{wanted:,} of {len(reader.items):,} samples were asked for and chosen by chance.")
    count = min(wanted, fit)
    if count == len(reader.items):
        return reader.items
    chosen = np.random.default_rng(seed).choice(len(reader.items), count, replace=False)
    return [reader.items[index] for index in sorted(chosen.tolist())]


def _first_readable(reader: Reader) -> Mapping[str, Array]:
    why = ""
    for item in reader.items:
        try:
            return reader.feed(item)
        except UnreadableError as error:
            why = why or f"'{item.name}': {error.message}"
    raise DataError(f"None of the {len(reader.items):,} samples can be read; {why}.", hint="Check the files.")


def _read_all(
    reader: Reader, model: Model, chosen: Sequence[Item], progress: Progress
) -> tuple[dict[str, Array], Sequence[Item]]:
    """All arrays with a leading sample axis, and the samples that could be read; the others are remarked."""
    arrays: dict[str, Array] = {}
    read: list[Item] = []
    left_out: list[str] = []
    for number, item in enumerate(chosen):
        progress.step(number, len(chosen), item.name)
        try:
            feeds = reader.feed(item)
        except UnreadableError as error:
            left_out.append(f"'{item.name}' ({error.message.rstrip('.')})")
            continue
        if not arrays:
            arrays = {name: np.empty((len(chosen), *array.shape), array.dtype) for name, array in feeds.items()}
        for name, array in feeds.items():
            arrays[name][len(read)] = array
        read.append(item)
    if not read:
        raise DataError(f"None of the {len(chosen):,} samples can be read; {left_out[0]}.", hint="Check the files.")
    if left_out:
        more = f" and {len(left_out) - _TOLD} more" if len(left_out) > _TOLD else ""
        reader.remarks.append(f"Left out, because they cannot be read: {', '.join(left_out[:_TOLD])}{more}.")
    arrays = {name: array[: len(read)] for name, array in arrays.items()}
    constants = constant_feeds(model, reader.how.constants, {name: array[0] for name, array in arrays.items()})
    repeated = {name: np.broadcast_to(array, (len(read), *array.shape)) for name, array in constants.items()}
    return {**arrays, **repeated}, read


def _numbering(classes: Sequence[str]) -> str:
    """Says which name got which number: the model's own order may be another."""
    shown = ", ".join(f"{number} is '{name}'" for number, name in enumerate(classes[:_TOLD]))
    return f"Labels are numbered in the order of their {len(classes)} names: {shown}{', ...' * (len(classes) > _TOLD)}."


def _preview(reader: Reader, item: Item) -> PreviewSample:
    try:
        array = reader.feed(item)[reader.how.input or ""]
        shown = reader.show(item)
    except UnreadableError as error:
        return PreviewSample(item.name, item.label, note=error.message)
    if array.dtype.kind == "O":
        return PreviewSample(item.name, item.label, shown.thumbnail, shown.text, array.shape)
    numbers = array.astype(np.float64)
    low, mean, high = float(numbers.min()), float(numbers.mean()), float(numbers.max())
    return PreviewSample(item.name, item.label, shown.thumbnail, shown.text, array.shape, low, mean, high)


def _is_prepared(label: str) -> DataError:
    return DataError(f"'{label}' is an .npz already: it needs no preprocessing.", hint="Leave the preprocessing out.")
