"""The sweet spot of a sweep: the most samples per second among the cells that keep a latency limit.

A cell keeps the limit where its 95th percentile does: 95 of 100 runs are within it. (The mean, or its interval, would
let every other run be late.) Of cells that are as good as the best - within 3 % of its throughput, with intervals that
overlap - the one with the fewest threads, then the smallest batch, is taken: it leaves most to others and answers
first.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.measure.intervals import Interval
from core.measure.swept import SweptCell

AS_GOOD = 0.03


def sweet_spot(cells: Sequence[SweptCell], limit_ms: float | None) -> tuple[SweptCell | None, str]:
    """The best cell, None where no cell keeps the limit; and the sentences that say why.

    Args:
        cells: as they were measured.
        limit_ms: what 95 of 100 runs must keep; None: no limit.
    """
    measured = [cell for cell in cells if cell.latency is not None]
    if not measured:
        reason = next((cell.why for cell in cells if cell.why), None)
        return None, f"No cell could be measured{f': {reason}' if reason else '.'}"
    keeping = [cell for cell in measured if limit_ms is None or _p95(cell) <= limit_ms]
    if not keeping:
        near = min(measured, key=_p95)
        kept = f"No cell keeps {limit_ms:g} ms in 95 of 100 runs; the nearest is {near.cell} with {_p95(near):.3g} ms."
        return None, f"{kept}{_reservation(measured)}"
    best = max(keeping, key=_throughput)
    spot = min((cell for cell in keeping if _as_good(cell, best)), key=lambda cell: cell.cell)
    among = "" if limit_ms is None else f" of the cells that keep {limit_ms:g} ms in 95 of 100 runs"
    told = f"{spot.cell} gives the most samples per second{among}: {_figures(spot)}."
    if spot is not best:
        told = (
            f"{spot.cell} is as good as the best{among}: {_figures(spot)}. "
            f"{best.cell} gives {_rate(best)}, which is no clear gain."
        )
    return spot, f"{told}{_reservation(measured)}"


def _as_good(cell: SweptCell, best: SweptCell) -> bool:
    near = _throughput(cell) >= (1 - AS_GOOD) * _throughput(best)
    return cell is best or (near and _overlap(cell.throughput_ci95, best.throughput_ci95))


def _overlap(one: Interval | None, other: Interval | None) -> bool:
    return one is not None and other is not None and one[0] <= other[1] and other[0] <= one[1]


def _figures(cell: SweptCell) -> str:
    return f"{_rate(cell)}, 95 of 100 runs within {_p95(cell):.3g} ms"


def _rate(cell: SweptCell) -> str:
    rate = _throughput(cell)
    return f"{rate:.0f} samples/s" if rate >= 100 else f"{rate:.3g} samples/s"


def _reservation(cells: Sequence[SweptCell]) -> str:
    """What weakens the comparison of the cells; empty where nothing does."""
    if any(cell.latency is not None and cell.latency.disturbed_kept for cell in cells):
        return " The machine was busy: cells with several threads hold runs that were disturbed. Sweep again when calm."
    if len({cell.latency.basis for cell in cells if cell.latency is not None}) > 1:
        return " The machine was busy: some cells are told in processor time, which leaves out waiting."
    return ""


def _p95(cell: SweptCell) -> float:
    return cell.latency.p95_ms if cell.latency is not None else float("inf")


def _throughput(cell: SweptCell) -> float:
    return cell.throughput or 0.0
