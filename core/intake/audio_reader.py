"""Sound as samples: each window of each .wav is one; a file is decoded once while its windows are read."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageDraw

from core.errors import DataError
from core.intake.audio import at_rate, cut_window, read_wav, window_starts
from core.intake.feeds import Array
from core.intake.labels import file_labels
from core.intake.members import AUDIO_SUFFIXES, Members, UnreadableError
from core.intake.model import Model
from core.intake.preprocessing import AudioPreprocessing
from core.intake.reading import Item, Shown
from core.intake.targets import sound_target

_WAVE_WIDTH, _WAVE_HEIGHT = 160, 60


class AudioReader:
    """The windows of a source's sounds for one model."""

    def __init__(self, members: Members, model: Model, how: AudioPreprocessing) -> None:
        self.spec = sound_target(model, how.input)
        self.how = dataclasses.replace(how, input=self.spec.name)
        self.remarks: list[str] = []
        self._members = members
        self._decoded: tuple[str, Array] | None = None
        names = members.having(AUDIO_SUFFIXES)
        labels = file_labels(members, names, how)
        self.items = tuple(self._windows([name for name in names if name in labels], labels))

    def begin(self, chosen: Sequence[Item]) -> None:
        """Nothing: every window stands alone."""

    def feed(self, item: Item) -> dict[str, Array]:
        """The window as the input takes it."""
        window = cut_window(self._sound(item.file), item.place, self.how)
        rank = len(self.spec.shape or ())
        if len(window) > 1 and rank < 3:
            message = f"it has {len(window)} channels, but input '{self.spec.name}' takes one"
            raise DataError(message, hint='Set "channels": "mono".')
        array = window[np.newaxis] if rank == 3 else window[0] if rank == 1 else window
        return {self.spec.name: np.ascontiguousarray(array, np.dtype(self.spec.dtype))}

    def show(self, item: Item) -> Shown:
        """The window as a curve, and where it lies in its file."""
        window = cut_window(self._sound(item.file), item.place, self.how)
        start = item.place / self.how.rate
        text = f"{start:.2f} s to {start + self.how.window / self.how.rate:.2f} s at {self.how.rate} Hz"
        return Shown(thumbnail=_draw(window[0]), text=text)

    def _windows(self, names: Sequence[str], labels: dict[str, str]) -> list[Item]:
        items: list[Item] = []
        broken, short = [], []
        for name in names:
            try:
                starts = window_starts(self._sound(name).shape[1], self.how)
            except UnreadableError as error:
                broken.append(f"'{name}': {error.message}")
                continue
            if not starts:
                short.append(name)
            items += [Item(f"{name} at {start / self.how.rate:.2f} s", labels[name], name, start) for start in starts]
        if broken and not items:
            raise DataError(f"None of the {len(names)} sound files can be read; {broken[0]}.")
        if broken:
            self.remarks.append(f"{len(broken)} of {len(names)} sound files were left out: {'; '.join(broken[:3])}.")
        if short:
            told = f"{len(short)} of {len(names)} sound files are shorter than a window and were left out"
            self.remarks.append(f"{told}: '{short[0]}'.")
        if short and not items:
            message = f"No sound is as long as a window of {self.how.window} samples at {self.how.rate} Hz."
            raise DataError(message, hint='Take a shorter "window", or set "pad": true.')
        return items

    def _sound(self, name: str) -> Array:
        if self._decoded is None or self._decoded[0] != name:
            rate, samples = read_wav(self._members.read(name))
            self._decoded = (name, at_rate(samples, rate, self.how))
        return self._decoded[1]


def _draw(samples: Array) -> bytes:
    """A small PNG of the curve: for each column the lowest and the highest sample, full height is −1..1."""
    image = Image.new("RGB", (_WAVE_WIDTH, _WAVE_HEIGHT), (255, 255, 255))
    pen = ImageDraw.Draw(image)
    for column, part in enumerate(np.array_split(samples, _WAVE_WIDTH)):
        if len(part):
            low, high = np.clip((part.min(), part.max()), -1, 1)
            top, bottom = ((1 - float(value)) / 2 * (_WAVE_HEIGHT - 1) for value in (high, low))
            pen.line([(column, top), (column, bottom)], fill=(40, 90, 160))
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()
