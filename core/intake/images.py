"""Images: one file becomes one array, upright, of the declared size, colour order and numbers.

value = (pixel × scale − mean) / std with pixel 0..255. 16-bit pixels are brought to 0..255 first, transparent ones are
laid on the background, palettes and CMYK become RGB. Files are decoded one at a time.
"""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from core.errors import DataError
from core.intake.feeds import Array
from core.intake.members import UnreadableError
from core.intake.preprocessing import ImagePreprocessing

#: An image of more pixels is not opened: a few bytes can unpack to gigabytes.
MOST_PIXELS = 100_000_000
#: The formats that are opened; others are rare, or need programs of their own.
_FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "GIF", "TIFF", "PPM")
#: What Pillow raises on files that are cut off, damaged or hostile.
_BROKEN = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    OverflowError,
    NotImplementedError,
    EOFError,
    struct.error,
    zlib.error,
    Image.DecompressionBombError,
)
_FILTERS = {
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
    "nearest": Image.Resampling.NEAREST,
}


def image_size(data: bytes) -> tuple[int, int]:
    """Width and height as it will be seen, from the file's head alone.

    Raises:
        UnreadableError: no image that can be opened here.
    """
    image = _open(data)
    try:
        turned = image.getexif().get(0x0112, 1) in (5, 6, 7, 8)
    except _BROKEN as error:
        raise UnreadableError(f"it is damaged ({_why(error)})") from error
    return (image.height, image.width) if turned else (image.width, image.height)


def prepare_image(data: bytes, how: ImagePreprocessing) -> Image.Image:
    """The image as the model will see it: upright, RGB or grey, resized and cut; pixels 0..255.

    Raises:
        UnreadableError: the file is damaged, too large, or of another size than the preprocessing allows.
    """
    image = _open(data)
    try:
        image = ImageOps.exif_transpose(_eight_bits(image))
        image = _opaque(image, how.background).convert("L" if how.colour == "grey" else "RGB")
    except _BROKEN as error:
        raise UnreadableError(f"it is damaged ({_why(error)})") from error
    return _cropped(_resized(image, how), how)


def image_array(image: Image.Image, how: ImagePreprocessing, dtype: np.dtype[Any]) -> Array:
    """The numbers of a prepared image, [channels, height, width] or [height, width, channels].

    Raises:
        DataError: the input takes whole numbers and the preprocessing makes others.
    """
    pixels = np.asarray(image, np.float32)
    pixels = pixels[:, :, np.newaxis] if pixels.ndim == 2 else pixels
    if how.colour == "BGR":
        pixels = pixels[:, :, ::-1]
    values = (_scaled(pixels, how.scale) - np.asarray(how.mean, np.float32)) / np.asarray(how.std, np.float32)
    if how.layout == "NCHW":
        values = values.transpose(2, 0, 1)
    if dtype.kind in "iu":
        values = _whole_numbers(values, dtype)
    return np.ascontiguousarray(values, dtype)


def thumbnail(image: Image.Image, side: int = 160) -> bytes:
    """A PNG no larger than `side` pixels; small images are enlarged in whole steps so that pixels can be seen."""
    factor = side // max(image.size)
    if factor > 1:
        shown = image.resize((image.width * factor, image.height * factor), Image.Resampling.NEAREST)
    else:
        shown = image.copy()
        shown.thumbnail((side, side))
    stream = io.BytesIO()
    shown.save(stream, "PNG")
    return stream.getvalue()


def _open(data: bytes) -> Image.Image:
    try:
        image = Image.open(io.BytesIO(data), formats=_FORMATS)
    except UnidentifiedImageError as error:
        raise UnreadableError("it is no image of a known format") from error
    except _BROKEN as error:
        raise UnreadableError(f"it cannot be opened ({_why(error)})") from error
    if image.width * image.height > MOST_PIXELS:
        megapixels = image.width * image.height / 1e6
        raise UnreadableError(f"it claims {megapixels:,.0f} megapixels, more than the {MOST_PIXELS / 1e6:.0f} allowed")
    return image


def _eight_bits(image: Image.Image) -> Image.Image:
    """16-bit grey as 8-bit grey; the exact range of other deep modes is unknown, they are refused."""
    if image.mode.startswith("I"):
        deep = np.asarray(image, np.int64)
        if deep.min() < 0 or deep.max() > 65_535:
            raise UnreadableError("its pixels are no 16-bit numbers")
        eight = Image.fromarray(np.round(deep / 257).astype(np.uint8))
        eight.getexif().update(image.getexif())
        return eight
    if image.mode == "F":
        raise UnreadableError("its pixels are fractions, whose range is unknown")
    return image


def _opaque(image: Image.Image, background: int) -> Image.Image:
    if not image.has_transparency_data:
        return image
    image = image.convert("RGBA")
    under = Image.new("RGBA", image.size, (background, background, background, 255))
    return Image.alpha_composite(under, image)


def _resized(image: Image.Image, how: ImagePreprocessing) -> Image.Image:
    height, width = how.size
    if how.resize == "none":
        return image
    if how.resize == "stretch":
        wanted = (width, height)
    elif how.resize == "longer-side":
        factor = min(width / image.width, height / image.height)
        wanted = (_side(image.width * factor), _side(image.height * factor))
    elif how.resize_to is not None:
        factor = how.resize_to / min(image.size)
        wanted = (_side(image.width * factor), _side(image.height * factor))
    else:
        factor = max(width / image.width, height / image.height)
        wanted = (max(width, _side(image.width * factor)), max(height, _side(image.height * factor)))
    if wanted[0] * wanted[1] > MOST_PIXELS:
        raise UnreadableError(f"its shape {image.width} x {image.height} cannot be resized sensibly")
    return image if wanted == image.size else image.resize(wanted, _FILTERS[how.interpolation])


def _cropped(image: Image.Image, how: ImagePreprocessing) -> Image.Image:
    height, width = how.size
    if image.size == (width, height):
        return image
    if how.resize == "longer-side":
        grey: int | tuple[int, int, int] = how.background if image.mode == "L" else (how.background,) * 3
        whole = Image.new(image.mode, (width, height), grey)
        whole.paste(image, ((width - image.width) // 2, (height - image.height) // 2))
        return whole
    if how.crop == "none" or image.width < width or image.height < height:
        raise UnreadableError(f"it is {image.width} x {image.height}, the model takes {width} x {height}")
    left, top = round((image.width - width) / 2), round((image.height - height) / 2)
    return image.crop((left, top, left + width, top + height))


def _scaled(pixels: Array, scale: float) -> Array:
    """A scale of 1/255 divides by 255, which is exact where multiplying is not."""
    if scale == 1:
        return pixels
    inverse = 1 / scale if scale else 0.0
    if inverse and abs(inverse - round(inverse)) < 1e-9 * abs(inverse):
        return pixels / np.float32(round(inverse))
    return pixels * np.float32(scale)


def _whole_numbers(values: Array, dtype: np.dtype[Any]) -> Array:
    whole, bounds = np.round(values), np.iinfo(dtype)
    if np.abs(values - whole).max() > 1e-3 or whole.min() < bounds.min or whole.max() > bounds.max:
        message = f"The input takes whole numbers ({dtype}), but the preprocessing makes others."
        raise DataError(message, hint="Leave out scale, mean and std for this model.")
    return whole


def _side(size: float) -> int:
    return max(1, round(size))


def _why(error: BaseException) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__
