from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core.intake.audio import at_rate, cut_window, read_wav, window_starts
from core.intake.members import UnreadableError
from core.intake.preprocessing import AudioPreprocessing
from tests.intake.sources import wav


def how(**options: Any) -> AudioPreprocessing:
    return AudioPreprocessing(**{"rate": 16_000, "window": 4, **options})


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (np.array([0, 16384, -32768], np.int16), [0, 0.5, -1]),
        (np.array([128, 192, 0], np.uint8), [0, 0.5, -1]),
        (np.array([0, 1 << 30, -(1 << 31)], np.int32), [0, 0.5, -1]),
        (np.array([0, 0.5, -1], np.float32), [0, 0.5, -1]),
        (np.array([0, 0.5, -1], np.float64), [0, 0.5, -1]),
    ],
)
def test_every_kind_of_pcm_and_float_becomes_minus_one_to_one(given: Any, read: list[float]) -> None:
    rate, samples = read_wav(wav(given, 8000))
    assert (rate, samples.dtype.name, samples.tolist()) == (8000, "float32", [read])


def test_channels_are_averaged_or_kept() -> None:
    _, samples = read_wav(wav(np.array([[0.5, 0], [1, 0]], np.float32)))
    assert samples.shape == (2, 2)
    np.testing.assert_allclose(at_rate(samples, 16_000, how()), [[0.25, 0.5]])
    assert at_rate(samples, 16_000, how(channels="keep")) is samples


def test_resampling_keeps_a_tone() -> None:
    time = np.arange(44_100) / 44_100
    tone = np.sin(2 * np.pi * 440 * time).astype(np.float32)[np.newaxis]
    got = at_rate(tone, 44_100, how())
    assert got.shape == (1, 16_000)
    assert got.dtype == np.float32
    wanted = np.sin(2 * np.pi * 440 * np.arange(16_000) / 16_000)
    np.testing.assert_allclose(got[0, 500:-500], wanted[500:-500], atol=0.01)


def test_rates_that_have_nothing_in_common_are_refused() -> None:
    with pytest.raises(UnreadableError, match="resampled"):
        at_rate(np.zeros((1, 10), np.float32), 999_983, how(rate=999_979))


@pytest.mark.parametrize(
    ("length", "options", "starts"),
    [
        (10, {}, [0, 4]),
        (10, {"hop": 2}, [0, 2, 4, 6]),
        (10, {"pad": True}, [0, 4, 8]),
        (8, {"pad": True}, [0, 4]),
        (10, {"hop": 3, "pad": True}, [0, 3, 6]),
        (3, {}, []),
        (3, {"pad": True}, [0]),
    ],
)
def test_windows_cover_the_sound(length: int, options: dict[str, Any], starts: list[int]) -> None:
    assert list(window_starts(length, how(**options))) == starts


def test_a_window_beyond_the_end_is_filled_with_silence() -> None:
    samples = np.arange(1, 7, dtype=np.float32)[np.newaxis]
    assert cut_window(samples, 0, how()).tolist() == [[1, 2, 3, 4]]
    assert cut_window(samples, 4, how()).tolist() == [[5, 6, 0, 0]]


@pytest.mark.parametrize("data", [b"", b"RIFF", b"RIFF\0\0\0\0WAVE", wav(np.zeros(0, np.int16)), wav(np.zeros(9))[:30]])
def test_what_is_no_sound_is_told_in_one_line(data: bytes) -> None:
    with pytest.raises(UnreadableError) as refused:
        read_wav(data)
    assert "\n" not in refused.value.message
