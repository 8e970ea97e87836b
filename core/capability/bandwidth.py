"""Bandwidth: how fast this machine reads and writes arrays, by the size of what is touched again and again.

Each method is a pass of NumPy over two arrays that together are the working set; the best rate of all counts. Bytes are
counted as in STREAM (McCalpin, 1995): what the program reads and writes, not what the caches fetch beside it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import psutil

from core.measure.roofline import CacheSpeed
from core.progress import Progress

Array = np.ndarray[Any, np.dtype[np.float32]]
Clock = Callable[[], float]

_SMALLEST_SET = 256 * 2**10
_CACHE_UNKNOWN = 64 * 2**20
#: Arrays are so many times as large as the last-level cache, so that hardly any of them is found there again.
_BEYOND_CACHE = 4
_MEMORY_SHARE = 0.25
_STRETCH_S = 0.003
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """`memory` is in GB/s (10**9 bytes per second); `how` says what reached it; `caches` are smaller working sets."""

    memory: float
    how: str
    caches: tuple[CacheSpeed, ...]


@dataclass(frozen=True, slots=True)
class _Method:
    """A pass over arrays `a` and `b`, and how many array lengths it reads and writes."""

    name: str
    run: Callable[[Array, Array], object]
    arrays: int


_METHODS = (
    _Method("copying one array to the other", lambda a, b: np.copyto(b, a), 2),
    _Method("adding one array to the other in place", lambda a, b: np.add(a, b, out=b), 3),
    _Method("scaling both arrays in place", lambda a, b: (np.multiply(a, 1.0, out=a), np.multiply(b, 1.0, out=b)), 4),
    _Method("finding the largest element of both arrays", lambda a, b: (a.max(), b.max()), 2),
)


def measure_bandwidth(
    levels: Mapping[str, int], threads: int, progress: Progress, *, clock: Clock = time.perf_counter
) -> Bandwidth:
    """Measures working sets from 256 KiB to the size of the last-level cache, and arrays beyond it; takes seconds.

    Args:
        levels: sizes of the caches (`cache_levels`).
        threads: how many work at once, each on a part of its own.
        progress: is told how far it is.
        clock: seconds.
    """
    last = max(levels.values(), default=_CACHE_UNKNOWN)
    sizes = [_SMALLEST_SET * 2**step for step in range(max(1, math.ceil(math.log2(last / _SMALLEST_SET))))]
    sizes = [size for size in sizes if size <= _room()]
    with ThreadPoolExecutor(threads) as pool:
        caches = []
        for done, size in enumerate(sizes):
            progress.step(done, len(sizes) + 1, f"working set of {size / 2**20:g} MiB")
            rate, _ = _best(*_arrays(size), threads, pool, clock)
            caches.append(CacheSpeed(size, rate))
        beyond = min(_BEYOND_CACHE * last, _room())
        progress.step(len(sizes), len(sizes) + 1, f"memory, {beyond / 2**20:.0f} MiB")
        memory, name = _best(*_arrays(beyond), threads, pool, clock)
    told = f"{name}, {beyond / 2**20:.0f} MiB in all"
    if beyond < 2 * last:
        told += f", which partly fit the cache of {last / 2**20:.0f} MiB: rather too fast"
    return Bandwidth(memory, told, tuple(caches))


def _room() -> int:
    """What may be taken of the memory that is free."""
    return int(psutil.virtual_memory().available * _MEMORY_SHARE)


def _arrays(working_set_bytes: int) -> tuple[Array, Array]:
    count = working_set_bytes // 8
    return np.ones(count, np.float32), np.ones(count, np.float32)


def _best(first: Array, second: Array, threads: int, pool: ThreadPoolExecutor, clock: Clock) -> tuple[float, str]:
    """The highest rate in GB/s of all methods, and what reached it."""
    parts = list(zip(np.array_split(first, threads), np.array_split(second, threads), strict=True))
    found = (0.0, "")
    for method in _METHODS:
        passes = partial(_passes, method, parts, pool)
        once = _seconds(passes, 1, clock)
        times = max(1, math.ceil(_STRETCH_S / max(once, 1e-9)))
        seconds = min(_seconds(passes, times, clock) for _ in range(_TRIES)) / times
        found = max(found, (method.arrays * first.nbytes / max(seconds, 1e-9) / 1e9, method.name))
    return found


def _passes(method: _Method, parts: list[tuple[Array, Array]], pool: ThreadPoolExecutor, times: int) -> None:
    def work(pair: tuple[Array, Array]) -> None:
        for _ in range(times):
            method.run(*pair)

    if len(parts) == 1:
        work(parts[0])
    else:
        list(pool.map(work, parts))


def _seconds(passes: Callable[[int], None], times: int, clock: Clock) -> float:
    start = clock()
    passes(times)
    return clock() - start
