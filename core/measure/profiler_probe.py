"""A probe of the profiler: chains of kernels that do next to nothing, run with it and without it.

What they take is what the runtime and its profiler need at the least: everything is warm, nothing is computed.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from types import TracebackType
from typing import Self

import numpy as np
import onnx_ir as ir

from core.intake.model import serialize
from core.measure.events import read_runs
from core.runtime.session import Session, open_session, run_session
from core.runtime.settings import SessionSettings

_LENGTH = 64
_MOST_SAMPLES = 100
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


class ProfilerProbe:
    """Sessions of such chains. Use it as a context manager; sample it while a model is measured.

    Taken in the same seconds, its figures share the mood that the machine has then.
    """

    def __init__(self, settings: SessionSettings) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="mixdesk-")
        model = serialize(_chain(_LENGTH))
        self._single = open_session(serialize(_chain(1)), settings)
        self._plain = open_session(model, settings)
        self._watched = open_session(model, settings, profile_prefix=Path(self._folder.name) / "probe")
        self._took: dict[Session, list[float]] = {self._single: [], self._plain: [], self._watched: []}
        self.sample()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._folder.cleanup()

    def sample(self) -> None:
        """Runs each once, as long as more samples still help."""
        if len(self._took[self._single]) < _MOST_SAMPLES:
            for session, took in self._took.items():
                run_session(session, _FEED)
                took.append(_time_us(session))

    def read(self) -> Probe:
        """What the samples show; no more can be taken after that."""
        runs = read_runs(Path(self._watched.end_profiling()))
        recorded = median(fmean(kernel.own_us for kernel in run.kernels) for run in runs)
        one, many, seen = (median(took) for took in self._took.values())
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
