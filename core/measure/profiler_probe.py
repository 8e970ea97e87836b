"""A probe of the profiler: chains of kernels that do next to nothing, run with it and without it.

What they take is what the runtime and its profiler need at the least: everything is warm, nothing is computed.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

import numpy as np
import onnx_ir as ir

from core.intake.model import serialize
from core.measure.events import read_runs
from core.runtime.session import Session, open_session, run_session
from core.runtime.settings import SessionSettings

_LENGTH = 64
_RUNS = 25
_FEED = {"x": np.ones(4, np.float32)}


@dataclass(frozen=True, slots=True)
class Probe:
    """Microseconds at the least.

    `run_us`: a run without kernels. `framework_us`: the runtime, per kernel. `inside_us` and `outside_us`: the
    profiler, per kernel, within its recorded time and after it.
    """

    run_us: float
    framework_us: float
    inside_us: float
    outside_us: float


def probe_profiler(settings: SessionSettings) -> Probe:
    """Measures it, in some hundredths of a second."""
    with tempfile.TemporaryDirectory(prefix="mixdesk-") as folder:
        model = serialize(_chain(_LENGTH))
        single = open_session(serialize(_chain(1)), settings)
        plain = open_session(model, settings)
        watched = open_session(model, settings, profile_prefix=Path(folder) / "probe")
        took = {session: [_time_us(session) for _ in range(_RUNS)] for session in (single, plain, watched)}
        runs = read_runs(Path(watched.end_profiling()))
    recorded = median(fmean(kernel.own_us for kernel in run.kernels) for run in runs)
    one, many, seen = (median(took[session]) for session in (single, plain, watched))
    framework = max(0.0, (many - one) / (_LENGTH - 1))
    record = max(recorded, (seen - many) / _LENGTH)
    return Probe(max(0.0, one - framework), framework, recorded, record - recorded)


def _chain(length: int) -> ir.Model:
    """Exp and Log in turn: nothing that the runtime fuses or leaves out."""
    tensor = ir.TensorType(ir.DataType.FLOAT)
    value = first = ir.Value(name="x", type=tensor, shape=ir.Shape([4]))
    nodes = []
    for position in range(length):
        written = ir.Value(name=f"t{position}", type=tensor, shape=ir.Shape([4]))
        operator = "Exp" if position % 2 == 0 else "Log"
        nodes.append(ir.Node("", operator, [value], outputs=[written], name=f"n{position}"))
        value = written
    graph = ir.Graph([first], [value], nodes=nodes, name="chain", opset_imports={"": 13})
    return ir.Model(graph, ir_version=8)


def _time_us(session: Session) -> float:
    start = time.perf_counter_ns()
    run_session(session, _FEED)
    return (time.perf_counter_ns() - start) / 1e3
