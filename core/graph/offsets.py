"""Offsets: the memory that a planner needs which gives every buffer a fixed place and uses places again.

Greedy by size (Pisarchyk and Lee, Efficient memory management for deep neural net inference, 2020, arXiv:2001.03288,
algorithm 3, which TensorFlow Lite uses): the largest buffer is placed first; each goes into the smallest gap that fits
between the placed buffers that are in use at the same time, else behind the last of them. No alignment. A body is
planned on its own, and its memory is one buffer of its container's step; bodies of one container run one after another
and share.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.graph.buffers import Body

#: Size in bytes, first and last step of its use.
Use = tuple[int, int, int]


def planned_bytes(body: Body) -> int:
    """What the plan needs for a body and all that runs inside it; never less than the most that is in use at once."""
    uses = [(buffer.size_bytes, buffer.first, buffer.last) for buffer in body.buffers if buffer.size_bytes]
    for step, nested in body.inside.items():
        needed = max(planned_bytes(inner) for inner in nested)
        if needed:
            uses.append((needed, step, step))
    places = place(uses)
    return max((start + use[0] for start, use in zip(places, uses, strict=True)), default=0)


def place(uses: Sequence[Use]) -> list[int]:
    """The offset in bytes of each buffer."""
    count = len(uses)
    placed = np.zeros((4, count), np.int64)
    firsts, lasts, starts, ends = placed
    places = [0] * count
    for position, index in enumerate(sorted(range(count), key=lambda index: (-uses[index][0], uses[index][1]))):
        size, first, last = uses[index]
        beside = np.flatnonzero((firsts[:position] <= last) & (lasts[:position] >= first))
        start = _best_gap(starts[beside], ends[beside], size)
        places[index] = start
        placed[:, position] = first, last, start, start + size
    return places


def _best_gap(starts: np.ndarray, ends: np.ndarray, size: int) -> int:
    """Where the smallest gap of at least `size` begins; behind everything where there is none."""
    if not len(starts):
        return 0
    order = np.argsort(starts)
    begins = np.concatenate(([0], np.maximum.accumulate(ends[order])))
    gaps = starts[order] - begins[:-1]
    fitting = np.flatnonzero(gaps >= size)
    if not len(fitting):
        return int(begins[-1])
    return int(begins[fitting[np.argmin(gaps[fitting])]])
