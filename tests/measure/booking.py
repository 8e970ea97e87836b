"""Booking without all that a profile measures besides: a model is run with the profiler, and its kernels are booked."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx_ir as ir

from core.graph.read import read_layers
from core.intake.load import load_model
from core.measure.events import read_runs
from core.measure.spent import Ledger, book
from core.runtime.attribute import open_tagged
from core.runtime.session import run_session
from core.runtime.settings import SessionSettings

Feed = Mapping[str, np.ndarray[Any, np.dtype[Any]]]


def booked(model: ir.Model, feeds: Sequence[Feed]) -> Ledger:
    """What each layer of a model spent in runs of these feeds."""
    loaded = load_model(ir.to_proto(model).SerializeToString(), name="model")
    table = read_layers(loaded, shapes={name: array.shape for name, array in feeds[0].items()})
    with tempfile.TemporaryDirectory() as folder:
        tagged = open_tagged(loaded.ir, SessionSettings(), profile_prefix=Path(folder) / "profile")
        for feed in feeds:
            run_session(tagged.session, feed)
        return book(read_runs(Path(tagged.session.end_profiling())), tagged, table)


def executions(ledger: Ledger) -> dict[str, float]:
    """Layer id -> how often it ran per run, for those that did."""
    return {layer: spent.executions for layer, spent in ledger.layers.items() if spent.executions}
