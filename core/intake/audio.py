"""Sound: a .wav (PCM or float, any channels) becomes numbers in −1..1 at the wanted rate, cut into windows."""

from __future__ import annotations

import io
import math
import struct
import warnings

import numpy as np
from scipy.io import wavfile

from core.intake.feeds import Array
from core.intake.members import UnreadableError
from core.intake.preprocessing import AudioPreprocessing

#: Of a file once decoded and resampled: 4 bytes each.
MOST_SAMPLES = 400_000_000
#: What scipy raises on files that are cut off, damaged or hostile.
_BROKEN = (
    ValueError,
    EOFError,
    TypeError,
    LookupError,
    ArithmeticError,
    AttributeError,
    struct.error,
    MemoryError,
    NameError,
)


def read_wav(data: bytes) -> tuple[int, Array]:
    """Rate in Hz and the samples, float32 [channels, samples]; PCM is scaled to −1..1.

    Raises:
        UnreadableError: no .wav file, damaged, or compressed in a way that cannot be read here.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", wavfile.WavFileWarning)
            rate, samples = wavfile.read(io.BytesIO(data))
    except _BROKEN as error:
        why = " ".join(str(error).split())[:120]
        raise UnreadableError(f"it is no readable .wav file ({why})") from error
    if not samples.size or rate <= 0:
        raise UnreadableError("it holds no sound")
    samples = samples[:, np.newaxis] if samples.ndim == 1 else samples
    return int(rate), np.ascontiguousarray(_as_float(samples).T)


def at_rate(samples: Array, rate: int, how: AudioPreprocessing) -> Array:
    """The sound at the declared rate, [channels, samples]; several channels averaged unless they are kept."""
    if how.channels == "mono" and len(samples) > 1:
        samples = samples.mean(axis=0, keepdims=True, dtype=np.float32)
    if rate == how.rate:
        return samples
    common = math.gcd(rate, how.rate)
    up, down = how.rate // common, rate // common
    if samples.shape[1] * up / down > MOST_SAMPLES or max(up, down) > 100_000:
        raise UnreadableError(f"it cannot be resampled from {rate} to {how.rate} Hz")
    from scipy import signal  # noqa: PLC0415 - slow to import, and most sound has the right rate

    return np.asarray(signal.resample_poly(samples, up, down, axis=1), np.float32)


def window_starts(length: int, how: AudioPreprocessing) -> range:
    """Where the windows of a sound begin, in samples; with `pad` the last one may reach beyond its end."""
    hop = how.hop or how.window
    last = length if how.pad else length - how.window + 1
    if how.pad and length > how.window:
        last = length - how.window + hop  # no window of silence alone
    return range(0, max(last, 0), hop)


def cut_window(samples: Array, start: int, how: AudioPreprocessing) -> Array:
    """One window [channels, window], filled up with silence where the sound ends."""
    window = samples[:, start : start + how.window]
    missing = how.window - window.shape[1]
    return np.pad(window, ((0, 0), (0, missing))) if missing else window


def _as_float(samples: Array) -> Array:
    kind, size = samples.dtype.kind, samples.dtype.itemsize
    if kind == "f":
        return samples.astype(np.float32)
    if kind == "u" and size == 1:
        return (samples.astype(np.float32) - 128) / 128
    if kind == "i":
        return (samples / float(1 << (8 * size - 1))).astype(np.float32)
    raise UnreadableError(f"its numbers are {samples.dtype}, which is no known kind of sound")
