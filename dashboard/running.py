"""How a model runs, in words and from edits: threads, samples per run, and the weights of the outputs that count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import RequestError

#: What an output's row is called in the table where outputs are chosen.
COUNTS, WEIGHT = "counts", "weight"


def line(*, threads: int, batch: int, outputs: Mapping[str, float], known: int) -> str:
    """The chip: "1 thread, batch 8, 2 of 5 outputs"; batch and outputs are told only where they were chosen.

    Args:
        threads: of the runtime.
        batch: samples per run.
        outputs: those that count, with weights; empty: all.
        known: how many outputs the model has; 0: not known yet.
    """
    words = [f"{threads} thread{'' if threads == 1 else 's'}"]
    if batch != 1:
        words.append(f"batch {batch}")
    if outputs:
        words.append(f"{len(outputs)} of {known} outputs" if known else f"{len(outputs)} outputs")
    return ", ".join(words)


def weighted(outputs: Mapping[str, float]) -> str:
    """The outputs that count, for reading: "boxes (weight 2), scores"."""
    return ", ".join(name if weight == 1 else f"{name} (weight {weight:g})" for name, weight in outputs.items())


def rows(names: Sequence[str], chosen: Mapping[str, float]) -> list[dict[str, Any]]:
    """One row per output: whether it counts, and with what weight; none chosen: all count with weight 1."""
    return [
        {"name": name, COUNTS: not chosen or name in chosen, WEIGHT: float(chosen.get(name, 1.0))} for name in names
    ]


def read_rows(
    names: Sequence[str], chosen: Mapping[str, float], edits: Mapping[int, Mapping[str, Any]]
) -> dict[str, float]:
    """What was chosen by editing the rows; empty where all outputs count the same.

    Args:
        names: of the outputs, in the order of the rows.
        chosen: before the edits.
        edits: row number -> the cells that were changed.

    Raises:
        RequestError: no output is left, or a weight is not above zero.
    """
    found: dict[str, float] = {}
    for number, row in enumerate(rows(names, chosen)):
        edited = {**row, **edits.get(number, {})}
        if not edited[COUNTS]:
            continue
        weight = edited[WEIGHT]
        if not isinstance(weight, int | float) or not weight > 0:
            raise RequestError(
                f"The weight of output '{row['name']}' must be above zero.",
                hint="Take the tick off an output that must not count.",
            )
        found[str(row["name"])] = float(weight)
    if not found:
        raise RequestError("No output is left to judge a mix by.", hint="Tick at least one output.")
    return {} if len(found) == len(names) and set(found.values()) == {1.0} else found
