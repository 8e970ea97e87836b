"""Rebuilds the sample models: trains two, takes the others as they are with small input sets.

    pip install -e ".[train]"
    python sample_models/make.py digits-cnn
    python sample_models/make.py subjectivity-text --sentences subjectivity.zip
    python sample_models/make.py ppocr-cls ppocr-det silero-vad --zoo FOLDER

Every step is seeded: the same versions on the same kind of machine write the same files.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime as ort
from make_digits import make_digits_cnn
from make_pages import draw_pages
from make_text import make_subjectivity_text
from making import HERE, SEED, write_data

# ppocr-cls: so many text lines, each upright and upside down, for calibration, evaluation and holdout
TEXT_LINES = (8, 8, 14)
# ppocr-det: so many pages for calibration, evaluation and holdout
PAGES = (8, 8, 16)
# silero-vad: the frames where evaluation and holdout start; each part holds speech and silence
FRAME_BORDERS = (80, 125)


def make_ppocr_cls(zoo: Path) -> None:
    """Takes the model as it is and 30 of the 60 text lines, upright and turned in the same split."""
    shutil.copyfile(zoo / "models" / "ppocr_cls.onnx", HERE / "ppocr-cls.onnx")
    with np.load(zoo / "data" / "ppocr_cls.npz") as data:
        images, labels = data["x"][:, 0], data["y"]
    pairs = len(images) // 2
    chosen = np.random.default_rng(SEED).permutation(pairs)[: sum(TEXT_LINES)]
    order = np.stack([chosen, chosen + pairs], axis=1).ravel()
    split = np.repeat(np.arange(3, dtype=np.int8), [2 * count for count in TEXT_LINES])
    write_data("ppocr-cls", {"x": images[order], "y": labels[order], "__split__": split})


def make_silero_vad(zoo: Path) -> None:
    """Takes the model as it is and the frames with the state that the model itself carries from frame to frame."""
    shutil.copyfile(zoo / "models" / "silero_vad.onnx", HERE / "silero-vad.onnx")
    with np.load(zoo / "data" / "silero_vad.npz") as data:
        frames, rates = data["input"], data["sr"]
    session = ort.InferenceSession(HERE / "silero-vad.onnx", providers=["CPUExecutionProvider"])
    state, states = np.zeros((2, 1, 128), np.float32), []
    for frame, rate in zip(frames, rates, strict=True):
        states.append(state)
        state = session.run(["stateN"], {"input": frame, "state": state, "sr": np.asarray(rate)})[0]
    split = np.searchsorted(FRAME_BORDERS, np.arange(len(frames)), side="right").astype(np.int8)
    write_data("silero-vad", {"input": frames, "state": np.stack(states), "sr": rates, "__split__": split})


def make_ppocr_det(zoo: Path) -> None:
    """Takes the model as it is and draws pages for it."""
    shutil.copyfile(zoo / "models" / "ppocrv4_det.onnx", HERE / "ppocr-det.onnx")
    split = np.repeat(np.arange(3, dtype=np.int8), PAGES)
    write_data("ppocr-det", {"x": draw_pages(sum(PAGES), SEED), "__split__": split})


CUTS: dict[str, Callable[[Path], None]] = {
    "ppocr-cls": make_ppocr_cls,
    "ppocr-det": make_ppocr_det,
    "silero-vad": make_silero_vad,
}


def main() -> None:
    """Rebuilds the samples named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samples", nargs="+", choices=["digits-cnn", "subjectivity-text", *CUTS])
    parser.add_argument("--zoo", type=Path, help="folder with models/ and data/ that the others are cut from")
    parser.add_argument("--sentences", type=Path, help="subjectivity.zip, for subjectivity-text")
    asked = parser.parse_args()
    for name in asked.samples:
        if name == "digits-cnn":
            make_digits_cnn()
        elif name == "subjectivity-text":
            if asked.sentences is None:
                parser.error(f"{name} is trained on sentences: name their archive with --sentences")
            make_subjectivity_text(asked.sentences)
        else:
            if asked.zoo is None:
                parser.error(f"{name} is cut from a folder of models: name it with --zoo")
            CUTS[name](asked.zoo)


if __name__ == "__main__":
    main()
