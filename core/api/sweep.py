"""Sweeping: threads x batch from Python, with the cells as a frame and the sweet spot under a latency limit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Unpack

import pandas as pd

from core.api.answers import Answer
from core.api.frames import frame
from core.api.given import DataGiven, ModelGiven
from core.api.options import Options, at_desk
from core.errors import RequestError
from core.report import quantities
from core.report.lines import data_line


class Sweep(Answer):
    """Throughput and latency over threads and batch sizes."""

    @property
    def cells(self) -> pd.DataFrame:
        """One row per cell, by (threads, batch): samples_per_s, mean_ms, p95_ms, with intervals; `why` it has none."""
        rows = [_row(cell) for cell in self.document["cells"]]
        return frame(rows).set_index(["threads", "batch"])

    @property
    def sweet_spot(self) -> dict[str, Any] | None:
        """Threads, batch, throughput (samples/s) and latency_ms of the best cell; None where none keeps the limit."""
        spot: dict[str, Any] | None = self.document["sweet_spot"]
        return spot

    @property
    def why(self) -> str:
        """Why it is that cell, or none."""
        return str(self.document["why"])

    def _lines(self) -> list[tuple[str, str]]:
        took = quantities.duration_s(self.document["measured_s"])
        return [
            ("sweet spot", self.why),
            ("cells", f"{len(self.document['cells'])} in {took}, {self.document['how']}"),
            ("data", data_line(self.document.get("data"))),
            *super()._lines(),
        ]


def sweep_model(
    model: ModelGiven,
    *,
    data: DataGiven | None = None,
    thread_counts: Sequence[int] | None = None,
    batch_sizes: Sequence[int] | None = None,
    latency_limit_ms: float | None = None,
    **options: Unpack[Options],
) -> Sweep:
    """Measures a model at several thread counts and batch sizes.

    Args:
        model: as for `convert_model`.
        data: as for `convert_model`.
        thread_counts: those to try; None: 1, 2, 4 ... up to the processors.
        batch_sizes: samples per run, those to try; None: 1, 2, 4 and 8.
        latency_limit_ms: what 95 of 100 runs must keep at the sweet spot; None: no limit.
        options: see `core.Options`; without outputs, threads and batch.

    Raises:
        RequestError: a number that means nothing.
        MixdeskError: as `convert_model`.
    """
    asked = {
        "sweep_threads": _whole("thread_counts", thread_counts),
        "sweep_batches": _whole("batch_sizes", batch_sizes),
        "limit_ms": latency_limit_ms,
    }
    with at_desk(model, data, options, without=("outputs", "threads", "batch")) as (desk, params):
        return Sweep(desk.run("sweep", params | asked, title=f"Sweep {params['model_name']}"))


def _whole(name: str, given: Any) -> list[int] | None:
    if given is None:
        return None
    if not isinstance(given, Iterable):
        raise RequestError(f"{name}= takes several numbers, not {given!r}.", hint=f"Write {name}=[1, 2].")
    return [int(number) for number in given]


def _row(cell: dict[str, Any]) -> dict[str, Any]:
    latency = cell["latency_ms"] or {}
    low, high = cell["throughput_ci95"] or (None, None)
    return {
        "threads": cell["threads"],
        "batch": cell["batch"],
        "samples_per_s": cell["throughput"],
        "samples_per_s_low": low,
        "samples_per_s_high": high,
        "mean_ms": latency.get("mean"),
        "p95_ms": latency.get("p95"),
        "why": cell["why"],
    }
