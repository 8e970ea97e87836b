from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from core.errors import DataError
from core.intake.audio_reader import AudioReader
from core.intake.members import open_members
from core.intake.preprocessing import AudioPreprocessing
from tests.intake.sources import wav, write_folder
from tests.intake.texts import load

RAMP = np.arange(1, 11, dtype=np.float32) / 16


def model(shape: str) -> Any:
    return load(f"g (float[{shape}] x) => (float[{shape}] y) {{ y = Relu (x) }}")


@contextmanager
def opened(folder: Path, files: dict[str, bytes], shape: str = "n,t", **options: Any) -> Iterator[AudioReader]:
    how = AudioPreprocessing(**{"rate": 16_000, "window": 4, **options})
    with open_members(write_folder(folder, files)) as members:
        yield AudioReader(members, model(shape), how)


@pytest.mark.parametrize(("shape", "fed"), [("t", (4,)), ("n,t", (1, 4)), ("n,1,t", (1, 1, 4))])
def test_a_window_has_the_rank_of_the_input(tmp_path: Path, shape: str, fed: tuple[int, ...]) -> None:
    with opened(tmp_path, {"a.wav": wav(RAMP)}, shape) as reader:
        array = reader.feed(reader.items[1])["x"]
    assert array.shape == fed
    np.testing.assert_array_equal(array.reshape(-1), RAMP[4:8])


def test_every_window_of_a_file_has_its_label(tmp_path: Path) -> None:
    with opened(tmp_path, {"yes/a.wav": wav(RAMP), "no/b.wav": wav(RAMP)}, labels="folder") as reader:
        assert [item.label for item in reader.items] == ["no", "no", "yes", "yes"]
        assert reader.items[1].name == "no/b.wav at 0.00 s"


def test_broken_and_short_files_are_left_out_and_told(tmp_path: Path) -> None:
    files = {"a.wav": wav(RAMP), "b.wav": b"RIFF", "c.wav": wav(RAMP[:2])}
    with opened(tmp_path, files) as reader:
        assert {item.file for item in reader.items} == {"a.wav"}
    assert "1 of 3 sound files were left out: 'b.wav'" in reader.remarks[0]
    assert "shorter than a window" in reader.remarks[1]


def test_where_nothing_can_be_taken_the_reason_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="None of the 1 sound files"), opened(tmp_path, {"b.wav": b"RIFF"}):
        pass
    with pytest.raises(DataError, match="No sound is as long"), opened(tmp_path, {"b.wav": wav(RAMP)}, window=99):
        pass


def test_two_channels_need_an_input_that_has_them(tmp_path: Path) -> None:
    stereo = {"a.wav": wav(np.stack([RAMP, -RAMP], axis=1))}
    with opened(tmp_path, stereo, "n,2,t", channels="keep") as reader:
        assert reader.feed(reader.items[0])["x"].shape == (1, 2, 4)
    with opened(tmp_path, stereo, "n,t", channels="keep") as reader, pytest.raises(DataError, match="2 channels"):
        reader.feed(reader.items[0])


def test_a_window_is_shown_as_a_curve_with_its_place(tmp_path: Path) -> None:
    with opened(tmp_path, {"a.wav": wav(RAMP)}) as reader:
        shown = reader.show(reader.items[0])
    assert shown.text == "0.00 s to 0.00 s at 16000 Hz"
    with Image.open(io.BytesIO(shown.thumbnail or b"")) as curve:
        assert curve.size == (160, 60)
        assert curve.getextrema() != ((255, 255),) * 3
