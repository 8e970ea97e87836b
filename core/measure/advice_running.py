"""Rules about how a model is started and run: the first run, the time to open it, threads."""

from __future__ import annotations

from collections.abc import Iterator

from core.measure.advised import Advice, Change, counted, time_text
from core.measure.seen import Seen, SweptTime

Found = Iterator[tuple[float, Advice]]

#: A first run stalls where it takes so many times a later one, and so many milliseconds more.
STALL_TIMES, STALL_MS = 5.0, 10.0
#: Opening is slow where it takes at least so long, and as long as so many runs.
SLOW_OPEN_MS, SLOW_OPEN_RUNS = 500.0, 100.0


def first_run_stalls(seen: Seen) -> Found:
    """The first run after opening takes far longer than a later one."""
    first, steady = seen.first_run_ms, seen.wall_ms
    if first is None or not steady or first < STALL_TIMES * steady or first - steady < STALL_MS:
        return
    yield (
        0.0,
        Advice(
            "first run stalls",
            f"The first run took {time_text(first)}, a later one takes {time_text(steady)} (median): "
            f"{first / steady:.1f} times as long.",
            "Whoever asks first waits for memory to be laid out and caches to be filled.",
            "Run the model once on a sample of the largest shape before it serves anybody.",
        ),
    )


def slow_to_open(seen: Seen) -> Found:
    """Opening the session takes long, and as long as many runs."""
    load, steady = seen.load_ms, seen.wall_ms
    if load is None or not steady or load < SLOW_OPEN_MS or load < SLOW_OPEN_RUNS * steady:
        return
    yield (
        0.0,
        Advice(
            "slow to open",
            f"Opening the model took {time_text(load)}: as long as {load / steady:.0f} runs.",
            "A service that starts, or starts again, answers nobody before that.",
            "Keep the session open between runs. The runtime can save the graph that it optimized "
            "(optimized_model_filepath): opened again on the same kind of machine, that work is saved.",
        ),
    )


def more_threads_than_processors(seen: Seen) -> Found:
    """The profile was made with more threads than this process has processors."""
    if seen.threads > seen.cores:
        yield (
            0.0,
            Advice(
                "more threads than processors",
                f"The model ran with {counted(seen.threads, 'thread')}; this process may use "
                f"{counted(seen.cores, 'processor')}.",
                "Threads that share a processor wait for each other inside every kernel.",
                f"Use {counted(seen.cores, 'thread')}.",
                change=Change(session={"threads": seen.cores}),
            ),
        )


def slower_with_more_threads(seen: Seen) -> Found:
    """A sweep measured a shorter latency with fewer threads at this batch, and the intervals are apart."""
    here = _cell(seen, seen.threads)
    fewer = [cell for cell in seen.known.swept if cell.batch == seen.batch and cell.threads < seen.threads]
    better = [cell for cell in fewer if here is not None and cell.ci95_ms[1] < here.ci95_ms[0]]
    if here is None or not better:
        return
    best = min(better, key=lambda cell: cell.mean_ms)
    yield (
        here.mean_ms - best.mean_ms,
        Advice(
            "slower with more threads",
            f"A sweep measured {time_text(here.mean_ms)} with {counted(here.threads, 'thread')} and "
            f"{time_text(best.mean_ms)} with {counted(best.threads, 'thread')} (means, batch {seen.batch}).",
            "Handing work to the other threads costs more than they save.",
            f"Use {counted(best.threads, 'thread')}.",
            change=Change(session={"threads": best.threads}),
        ),
    )


def _cell(seen: Seen, threads: int) -> SweptTime | None:
    return next((cell for cell in seen.known.swept if (cell.threads, cell.batch) == (threads, seen.batch)), None)
