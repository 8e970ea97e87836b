"""The plan of a sweep: which cells (threads x batch) are measured, how often, and how long that takes.

    run of a cell     ms of one sample x batch; more threads are assumed to gain nothing: an upper estimate
    visit of a cell   untimed runs that refill the caches, then timed ones for about 50 ms (at least one)
    duration          opening every cell + rounds x the visits of all cells

Every round visits every cell once, so that a drift of the machine hits all cells alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import RequestError

BATCHES = (1, 2, 4, 8)
MOST_CELLS = 64

MOST_ROUNDS, FEWEST_ROUNDS = 12, 5
#: A cell that is opened anew for each visit is visited so often, and each time for as many rounds as that leaves.
OPENINGS = 3
WARM_UP_RUNS = 3
#: Rounds are cut down to the fewest where all of them would take longer than this.
_ROUNDS_S = 60.0
_VISIT_MS = 50.0
_MOST_TIMES = 50
_REFILL_MS, _COLD_MS, _MOST_REFILLS = 4.0, 20.0, 20
#: Starting a process and opening a small model in it, where nobody has measured that yet.
OPEN_S = 1.0


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """How a model runs in one cell of the grid."""

    threads: int
    batch: int

    def __str__(self) -> str:
        return f"{self.threads} thread{'' if self.threads == 1 else 's'}, batch {self.batch}"


@dataclass(frozen=True, slots=True)
class Visit:
    """What one visit of a cell runs: so many times untimed, then so many times timed."""

    warm: int
    times: int

    @property
    def runs(self) -> int:
        """Both."""
        return self.warm + self.times


def grid(threads: Sequence[int], batches: Sequence[int]) -> tuple[Cell, ...]:
    """Every pair, each once, in order.

    Raises:
        RequestError: none, one below 1, or more cells than anybody wants to wait for.
    """
    for name, numbers in (("threads", threads), ("batch", batches)):
        if not numbers:
            raise RequestError(f"A sweep needs at least one number for '{name}'.")
        if min(numbers) < 1:
            raise RequestError(f"'{name}' takes whole numbers of at least 1, not {min(numbers)}.")
    cells = tuple(sorted({Cell(count, batch) for count in threads for batch in batches}))
    if len(cells) > MOST_CELLS:
        raise RequestError(f"{len(cells)} cells are more than {MOST_CELLS}.", hint="Ask for fewer threads or batches.")
    return cells


def usual_threads(cores: int) -> tuple[int, ...]:
    """The thread counts to try where nobody says which: 1, 2, 4 ... and all processors."""
    doubled = [2**power for power in range(cores.bit_length()) if 2**power < cores]
    return (*doubled, cores)


def visit_of(run_ms: float) -> Visit:
    """How a cell whose run takes so long is visited."""
    run_ms = max(run_ms, 1e-4)
    times = max(1, min(_MOST_TIMES, round(_VISIT_MS / run_ms)))
    return Visit(min(_MOST_REFILLS, math.ceil(_REFILL_MS / run_ms)) if run_ms < _COLD_MS else 0, times)


def rounds_of(cells: Sequence[Cell], sample_ms: float) -> int:
    """How many rounds: twelve, fewer where they would take more than a minute, five at the least."""
    one_s = sum(_visit_s(cell, sample_ms) for cell in cells)
    return max(FEWEST_ROUNDS, min(MOST_ROUNDS, int(_ROUNDS_S / one_s) if one_s > 0 else MOST_ROUNDS))


def estimate_s(cells: Sequence[Cell], sample_ms: float, *, open_s: float = OPEN_S, interleaved: bool = True) -> float:
    """Seconds that the sweep takes.

    Args:
        cells: those that can run.
        sample_ms: milliseconds of one sample, as a profile or a quick run found.
        open_s: seconds to start a process and open the model in it.
        interleaved: whether all cells stay open; else each is opened several times.
    """
    openings = 1 if interleaved else OPENINGS
    warm_up_s = sum(openings * (open_s + WARM_UP_RUNS * sample_ms * cell.batch / 1e3) for cell in cells)
    return warm_up_s + rounds_of(cells, sample_ms) * sum(_visit_s(cell, sample_ms) for cell in cells)


def _visit_s(cell: Cell, sample_ms: float) -> float:
    run_ms = sample_ms * cell.batch
    return visit_of(run_ms).runs * run_ms / 1e3
