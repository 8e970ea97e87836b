from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

from core.errors import DataError
from core.intake import images
from core.intake.images import image_array, image_size, prepare_image, thumbnail
from core.intake.members import UnreadableError
from core.intake.preprocessing import ImagePreprocessing
from tests.intake.sources import pixels, png

RAW: dict[str, Any] = {"resize": "none", "crop": "none"}
FLOAT = np.dtype(np.float32)


def how(height: int = 8, width: int = 8, **options: Any) -> ImagePreprocessing:
    return ImagePreprocessing(size=(height, width), **options)


def made(data: bytes, settings: ImagePreprocessing, dtype: np.dtype[Any] = FLOAT) -> np.ndarray[Any, Any]:
    return image_array(prepare_image(data, settings), settings, dtype)


def test_pixels_are_scaled_shifted_and_divided_channels_first() -> None:
    given = pixels()
    got = made(png(given), how(**RAW, mean=(127.0,), std=(128.0,)))
    np.testing.assert_array_equal(got, ((given.astype(np.float32) - 127) / 128).transpose(2, 0, 1))


def test_a_scale_of_one_255th_divides_exactly() -> None:
    given = pixels()
    settings = how(**RAW, scale=1 / 255, mean=(0.5, 0.25, 0.125), std=(0.5, 1, 2), layout="NHWC")
    mean, std = np.array([0.5, 0.25, 0.125], np.float32), np.array([0.5, 1, 2], np.float32)
    wanted = (given.astype(np.float32) / np.float32(255) - mean) / std
    np.testing.assert_array_equal(made(png(given), settings), wanted)


def test_bgr_turns_the_channels_and_grey_has_one() -> None:
    given = pixels()
    np.testing.assert_array_equal(made(png(given), how(**RAW, colour="BGR", layout="NHWC")), given[:, :, ::-1])
    grey = made(png(given), how(**RAW, colour="grey"))
    np.testing.assert_array_equal(grey[0], np.asarray(Image.fromarray(given).convert("L")))


def test_the_shorter_side_is_resized_and_the_middle_cut() -> None:
    settings = how(4, 4, resize_to=8, interpolation="nearest")
    given = np.zeros((16, 32, 3), np.uint8)
    given[:, 16:] = 200
    image = prepare_image(png(given), settings)
    assert image.size == (4, 4)
    np.testing.assert_array_equal(np.asarray(image)[:, :, 0], [[0, 0, 200, 200]] * 4)


def test_without_resize_to_the_image_just_covers_the_size() -> None:
    assert prepare_image(png(pixels(10, 40)), how(5, 5)).size == (5, 5)
    same = pixels()
    np.testing.assert_array_equal(np.asarray(prepare_image(png(same), how())), same)


def test_stretching_and_letterboxing() -> None:
    given = np.full((4, 8, 3), 10, np.uint8)
    assert prepare_image(png(given), how(6, 6, resize="stretch", crop="none")).size == (6, 6)
    boxed = np.asarray(prepare_image(png(given), how(8, 8, resize="longer-side", background=114)))
    assert boxed[:2].tolist() == [[[114] * 3] * 8] * 2
    assert boxed[2:6].tolist() == [[[10] * 3] * 8] * 4
    assert prepare_image(png(given), how(8, 8, resize="longer-side", colour="grey")).size == (8, 8)


def test_another_size_is_refused_where_nothing_may_be_resized() -> None:
    with pytest.raises(UnreadableError, match="8 x 9, the model takes 8 x 8"):
        prepare_image(png(pixels(9, 8)), how(**RAW))
    with pytest.raises(UnreadableError, match="4 x 4"):
        prepare_image(png(pixels(4, 4)), how(resize="none"))


def test_images_are_turned_upright() -> None:
    image = Image.fromarray(pixels(4, 6))
    exif = Image.Exif()
    exif[0x0112] = 6
    stream = io.BytesIO()
    image.save(stream, "PNG", exif=exif)
    assert image_size(stream.getvalue()) == (4, 6)
    turned = prepare_image(stream.getvalue(), how(6, 4, **RAW))
    np.testing.assert_array_equal(np.asarray(turned), np.rot90(pixels(4, 6), -1))


def test_transparent_pixels_are_laid_on_the_background() -> None:
    given = np.zeros((8, 8, 4), np.uint8)
    given[:4, :, 3] = 255
    got = made(png(given), how(**RAW, background=200))
    assert (got[0, 0, 0], got[0, 7, 0]) == (0, 200)
    palette = Image.fromarray(pixels()).convert("P")
    assert made(png(palette, transparency=0), how(**RAW)).shape == (3, 8, 8)


def test_sixteen_bits_become_eight_and_palettes_and_cmyk_become_rgb() -> None:
    deep = np.full((8, 8), 65535, np.uint16)
    deep[0, 0] = 257 * 5
    got = made(png(deep), how(**RAW))
    assert (got[0, 0, 0], got[2, 7, 7]) == (5, 255)
    stream = io.BytesIO()
    Image.new("CMYK", (8, 8), (0, 255, 255, 0)).save(stream, "JPEG")
    assert made(stream.getvalue(), how(**RAW))[0].min() > 200


def test_whole_numbers_stay_whole_and_fractions_are_refused_there() -> None:
    given = pixels()
    settings = how(**RAW, layout="NHWC")
    np.testing.assert_array_equal(made(png(given), settings, np.dtype(np.uint8)), given)
    shifted = how(**RAW, layout="NHWC", mean=(128.0,))
    np.testing.assert_array_equal(made(png(given), shifted, np.dtype(np.int8)), given.astype(int) - 128)
    with pytest.raises(DataError, match="whole numbers"):
        made(png(given), how(**RAW, scale=1 / 255), np.dtype(np.uint8))


@pytest.mark.parametrize("data", [b"", b"nothing", png(pixels())[:60], b"\x89PNG\r\n\x1a\n" + b"\0" * 40, b"GIF89a"])
def test_what_is_no_image_is_told_in_one_line(data: bytes) -> None:
    with pytest.raises(UnreadableError) as refused:
        prepare_image(data, how(**RAW))
    assert "\n" not in refused.value.message


def test_an_image_of_too_many_pixels_is_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    data = png(pixels(20, 20))
    monkeypatch.setattr(images, "MOST_PIXELS", 300)
    with pytest.raises(UnreadableError, match="megapixels"):
        prepare_image(data, how())
    with pytest.raises(UnreadableError, match="megapixels"):
        image_size(data)


def test_a_sliver_is_not_blown_up_beyond_the_limit() -> None:
    with pytest.raises(UnreadableError, match="resized sensibly"):
        prepare_image(png(np.zeros((1, 60_000, 3), np.uint8)), how(4000, 4000))


def test_formats_that_need_other_programs_are_not_opened() -> None:
    with pytest.raises(UnreadableError, match="known format"):
        prepare_image(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 8 8\n", how())


def test_thumbnails_are_small_and_small_images_are_enlarged_in_whole_steps() -> None:
    with Image.open(io.BytesIO(thumbnail(Image.new("RGB", (400, 200))))) as shown:
        assert shown.size == (160, 80)
    with Image.open(io.BytesIO(thumbnail(Image.new("L", (28, 28))))) as shown:
        assert shown.size == (140, 140)
