"""Draws pages with lines of text, as a text detector sees them: several sizes, colours, angles and degrees of blur."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

#: Height and width of a page; the detector halves both five times.
PAGE = (256, 256)
WORDS = ("bread", "cable", "flour", "house", "invoice", "lamp", "market", "number", "order", "receipt", "total")
#: Mean and deviation of red, green and blue (of 0..1) that the detector was trained with.
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def draw_pages(count: int, seed: int) -> np.ndarray:
    """`count` pages, float32 [count, 3, height, width], normalised as the detector wants them."""
    chance = np.random.default_rng(seed)
    images = np.stack([np.asarray(_page(chance), np.float32) / 255 for _ in range(count)])
    normalised = (images - np.array(MEAN, np.float32)) / np.array(DEVIATION, np.float32)
    return np.ascontiguousarray(normalised.transpose(0, 3, 1, 2))


def _page(chance: np.random.Generator) -> Image.Image:
    height, width = PAGE
    shade = int(chance.integers(205, 256))
    paper = (shade, shade, int(shade * chance.uniform(0.9, 1)))
    page = Image.new("RGB", (width, height), paper)
    top = int(chance.integers(6, 24))
    while top < height - 30:
        line = _line(chance, paper)
        page.paste(line, (int(chance.integers(4, 30)), top))
        top += line.height + int(chance.integers(4, 22))
    return page.filter(ImageFilter.GaussianBlur(float(chance.uniform(0, 0.9))))


def _line(chance: np.random.Generator, paper: tuple[int, ...]) -> Image.Image:
    """One line of text on its own strip, some on a coloured ground, some a little turned."""
    font = ImageFont.load_default(size=float(chance.integers(11, 27)))
    words = [str(word) for word in chance.choice(WORDS, chance.integers(1, 4))]
    text = " ".join([*words, f"{chance.uniform(1, 999):.2f}"] if chance.random() < 0.5 else words)
    left, top, right, bottom = font.getbbox(text)
    ground = tuple(int(part) for part in chance.integers(180, 256, 3)) if chance.random() < 0.3 else paper
    strip = Image.new("RGB", (int(right - left) + 8, int(bottom - top) + 8), ground)
    ink = tuple(int(part) for part in chance.integers(0, 120, 3))
    ImageDraw.Draw(strip).text((4 - left, 4 - top), text, fill=ink, font=font)
    angle = float(chance.uniform(-3, 3)) if chance.random() < 0.3 else 0.0
    return strip.rotate(angle, resample=Image.Resampling.BILINEAR, expand=True, fillcolor=paper)
