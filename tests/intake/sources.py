"""Small sources of data for tests: images, sounds, tables and a tokenizer of ten words."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from scipy.io import wavfile

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "bad", "film", "a", "very", "the")


def pixels(height: int = 8, width: int = 8, *, seed: int = 0) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Random RGB pixels [height, width, 3]."""
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3)).astype(np.uint8)


def png(image: np.ndarray[Any, Any] | Image.Image, **options: Any) -> bytes:
    """The bytes of a PNG."""
    stream = io.BytesIO()
    (Image.fromarray(image) if isinstance(image, np.ndarray) else image).save(stream, "PNG", **options)
    return stream.getvalue()


def wav(samples: np.ndarray[Any, Any], rate: int = 16_000) -> bytes:
    """The bytes of a .wav; samples [time] or [time, channels]."""
    stream = io.BytesIO()
    wavfile.write(stream, rate, samples)
    return stream.getvalue()


def write_zip(path: Path, files: Mapping[str, bytes]) -> Path:
    """A zip of these files."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def write_folder(path: Path, files: Mapping[str, bytes]) -> Path:
    """A folder of these files."""
    for name, data in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)
    return path


def tokenizer(path: Path, **more: Any) -> Path:
    """A word-level tokenizer.json: [CLS] words [SEP]."""
    special = {token: {"id": token, "ids": [WORDS.index(token)], "tokens": [token]} for token in ("[CLS]", "[SEP]")}
    document = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": "[CLS]", "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": "[SEP]", "type_id": 0}},
            ],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": special,
        },
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": {word: i for i, word in enumerate(WORDS)}, "unk_token": "[UNK]"},
        **more,
    }
    path.write_text(json.dumps(document), encoding="utf-8")
    return path
