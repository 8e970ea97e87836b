from __future__ import annotations

from typing import Any

import onnx
import pytest

from core import sweep_model
from core.errors import RequestError
from tests.api.conftest import Noted

LATENCY = {"median": 2.0, "mean": 2.0, "ci95": [1.9, 2.1], "p95": 2.2, "basis": "wall"}
CELL: dict[str, Any] = {
    "threads": 1, "batch": 4, "latency_ms": LATENCY, "throughput": 2000.0, "throughput_ci95": [1905.0, 2105.0],
    "why": None,
}  # fmt: skip
FAILED = {**CELL, "batch": 8, "latency_ms": None, "throughput": None, "throughput_ci95": None, "why": "cannot"}


def test_a_sweep_is_a_job_whose_cells_are_a_frame(noted: Noted, network: onnx.ModelProto) -> None:
    spot = {"threads": 1, "batch": 4, "throughput": 2000.0, "latency_ms": LATENCY}
    noted.result = {"cells": [CELL, FAILED], "sweet_spot": spot, "why": "It is best."}
    found = sweep_model(network, thread_counts=[1], batch_sizes=(4, 8), latency_limit_ms=5)
    assert noted.asked[0][0] == "sweep"
    assert noted.params["sweep_batches"] == [4, 8]
    assert noted.params["limit_ms"] == 5
    assert found.cells.loc[(1, 4), "samples_per_s"] == 2000.0
    assert found.cells.loc[(1, 8), "why"] == "cannot"
    assert found.sweet_spot == spot
    assert found.why == "It is best."


def test_threads_and_batch_sizes_are_lists(network: onnx.ModelProto) -> None:
    with pytest.raises(RequestError, match="no option 'outputs'"):
        sweep_model(network, outputs=["y"])
    with pytest.raises(RequestError, match="no option 'threads'"):
        sweep_model(network, threads=2)
    with pytest.raises(RequestError, match="takes several numbers, not 2"):
        sweep_model(network, thread_counts=2)  # type: ignore[arg-type]
