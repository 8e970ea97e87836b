"""Images as samples: one file each, decoded when its turn comes."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from core.errors import DataError
from core.intake.feeds import Array
from core.intake.images import image_array, prepare_image, thumbnail
from core.intake.labels import file_labels
from core.intake.members import IMAGE_SUFFIXES, Members
from core.intake.model import Model
from core.intake.preprocessing import ImagePreprocessing
from core.intake.reading import Item, Shown
from core.intake.targets import ImageTarget, image_target

#: One image file; larger ones are told as unreadable.
_MOST_BYTES = 200_000_000


class ImageReader:
    """The images of a source for one model."""

    def __init__(self, members: Members, model: Model, how: ImagePreprocessing) -> None:
        self.target = image_target(model, how.input)
        _check_target(self.target, how)
        self.how = dataclasses.replace(how, input=self.target.spec.name)
        self.remarks: list[str] = []
        self._members = members
        names = members.having(IMAGE_SUFFIXES)
        labels = file_labels(members, names, how)
        unlisted = [name for name in names if name not in labels]
        if unlisted:
            told = f"{len(unlisted)} of {len(names)} images are in no row of the table and were left out"
            self.remarks.append(f"{told}: {_few(unlisted)}.")
        self.items = tuple(Item(name, labels[name], name) for name in names if name in labels)

    def begin(self, chosen: Sequence[Item]) -> None:
        """Nothing: every image stands alone."""

    def feed(self, item: Item) -> dict[str, Array]:
        """The image as the input takes it."""
        spec = self.target.spec
        image = prepare_image(self._members.read(item.file, most_bytes=_MOST_BYTES), self.how)
        array = image_array(image, self.how, np.dtype(spec.dtype))
        return {spec.name: array[np.newaxis] if len(spec.shape or ()) == 4 else array}

    def show(self, item: Item) -> Shown:
        """The image after resizing and cutting, before its pixels become other numbers."""
        image = prepare_image(self._members.read(item.file, most_bytes=_MOST_BYTES), self.how)
        return Shown(thumbnail=thumbnail(image))


def _check_target(target: ImageTarget, how: ImagePreprocessing) -> None:
    """Whether declared layout, size and colours are what the input takes, before any image is read."""
    name = target.spec.name
    if how.layout != target.layout:
        message = f"Input '{name}' takes {target.layout}, but the preprocessing says {how.layout}."
        raise DataError(message, hint=f'Set "layout": "{target.layout}".')
    if target.channels is not None and target.channels != how.channels:
        message = f"Input '{name}' takes {target.channels} channels, but {how.colour} has {how.channels}."
        raise DataError(message, hint='Set "colour" to "grey" for one channel, to "RGB" or "BGR" for three.')
    for side, wanted, given in (("height", target.height, how.size[0]), ("width", target.width, how.size[1])):
        if wanted is not None and wanted != given:
            message = f"Input '{name}' takes images of {side} {wanted}, but the preprocessing makes {given}."
            raise DataError(
                message, hint=f'Set "size": [{target.height or how.size[0]}, {target.width or how.size[1]}].'
            )


def _few(names: Sequence[str], most: int = 3) -> str:
    return ", ".join(f"'{name}'" for name in names[:most]) + (", ..." if len(names) > most else "")
