"""The capability grid: for each operator and precision, executed here or not, and how much faster than fp32."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import onnx_ir as ir

from core.capability.operators import OPERATORS, OneOperator, feed, float_model, int8_model
from core.capability.saturation import saturates
from core.errors import RunError
from core.progress import Progress
from core.recipe.precision import Precision, Support
from core.runtime.attribute import read_executed
from core.runtime.session import open_session, run_session
from core.runtime.settings import SessionSettings
from core.transform.readback import is_integer

_PAIRS = 25
_WARM_UP = 3
_SHORTEST_S = 2e-4
_Z95 = 1.96


@dataclass(frozen=True, slots=True)
class Capability:
    """One row: `speedup` is fp32 time over this precision's time for the kernel alone, with its 95 % interval."""

    op: str
    signature: str
    precision: Precision
    provider: str
    state: Support
    speedup: float | None
    ci95: tuple[float, float] | None
    why: str

    def to_dict(self) -> dict[str, Any]:
        """As in the `machine` document."""
        return {
            "op": self.op,
            "signature": self.signature,
            "precision": str(self.precision),
            "provider": self.provider,
            "state": str(self.state),
            "speedup": self.speedup,
            "ci95": None if self.ci95 is None else list(self.ci95),
            "why": self.why,
        }


@dataclass(frozen=True, slots=True)
class CapabilityGrid:
    """All rows, and whether 8-bit weights saturate on this CPU."""

    rows: tuple[Capability, ...]
    saturates: bool

    def offered(self) -> dict[str, Support]:
        """Operator -> what this machine does with it in int8; the best of its signatures."""
        found: dict[str, Support] = {}
        for row in self.rows:
            if row.precision is Precision.INT8 and found.get(row.op) is not Support.EXECUTED:
                found[row.op] = row.state
        return found

    def to_dict(self) -> dict[str, Any]:
        """What the store caches."""
        return {"rows": [row.to_dict() for row in self.rows], "saturates": self.saturates}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> CapabilityGrid:
        """Reads what `to_dict` gave."""
        return cls(tuple(_row(row) for row in document["rows"]), bool(document["saturates"]))


def _row(row: Mapping[str, Any]) -> Capability:
    ci95 = row["ci95"]
    return Capability(
        op=row["op"],
        signature=row["signature"],
        precision=Precision(row["precision"]),
        provider=row["provider"],
        state=Support(row["state"]),
        speedup=row["speedup"],
        ci95=None if ci95 is None else (ci95[0], ci95[1]),
        why=row["why"],
    )


def probe(
    settings: SessionSettings, progress: Progress, *, clock: Callable[[], float] = time.perf_counter, seed: int = 0
) -> CapabilityGrid:
    """Builds, runs, reads back and times every one-operator model; takes seconds, cached per machine and version."""
    saturating = saturates(settings)
    rows = []
    for done, operator in enumerate(OPERATORS, 1):
        rows.append(_probe_one(operator, settings, saturating=saturating, clock=clock, seed=seed))
        progress.step(done, len(OPERATORS), f"{operator.op_type} {operator.signature}")
    return CapabilityGrid(tuple(rows), saturating)


def _probe_one(
    operator: OneOperator, settings: SessionSettings, *, saturating: bool, clock: Callable[[], float], seed: int
) -> Capability:
    model = int8_model(operator, saturates=saturating)
    try:
        state, why = _state(model, settings)
        ratios = _ratios(operator, model, settings, clock=clock, seed=seed)
    except RunError as error:
        return Capability(
            operator.op_type, operator.signature, Precision.INT8, settings.provider, Support.UNAVAILABLE, None, None,
            error.message,
        )  # fmt: skip
    middle, interval = _interval(ratios)
    return Capability(
        operator.op_type, operator.signature, Precision.INT8, settings.provider, state, middle, interval, why
    )


def _state(model: ir.Model, settings: SessionSettings) -> tuple[Support, str]:
    executed = read_executed(model, settings)
    kernels = [node for node in executed.nodes if is_integer(node)]
    if kernels:
        return Support.EXECUTED, "runs " + ", ".join(sorted({node.op_type for node in kernels}))
    ran = ", ".join(sorted({node.op_type for node in executed.nodes}))
    return Support.EMULATED, f"no integer kernel: runs {ran}"


def _ratios(
    operator: OneOperator, int8: ir.Model, settings: SessionSettings, *, clock: Callable[[], float], seed: int
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Natural logarithms of fp32 time over int8 time, pair by pair, the order alternating."""
    sides = [
        (open_session(ir.to_proto(model).SerializeToString(), settings), feed(operator, dtype, seed))
        for model, dtype in ((float_model(operator), "float32"), (int8, "uint8"))
    ]
    runs = [_runs_needed(partial(run_session, *side), clock) for side in sides]
    found = []
    for pair in range(_PAIRS):
        spent = [0.0, 0.0]
        for side in (0, 1) if pair % 2 == 0 else (1, 0):
            start = clock()
            for _ in range(runs[side]):
                run_session(*sides[side])
            spent[side] = (clock() - start) / runs[side]
        found.append(math.log(spent[0] / spent[1]) if min(spent) > 0 else 0.0)
    return np.array(found)


def _runs_needed(run: Callable[[], Any], clock: Callable[[], float]) -> int:
    """How many runs make a stretch long enough to be timed."""
    for _ in range(_WARM_UP):
        run()
    start = clock()
    run()
    return max(1, math.ceil(_SHORTEST_S / max(clock() - start, 1e-9)))


def _interval(logs: np.ndarray[Any, np.dtype[np.float64]]) -> tuple[float, tuple[float, float]]:
    """Median ratio and its 95 % interval from the order statistics of the pairs (binomial, distribution-free)."""
    ordered = np.sort(logs)
    half = _Z95 * math.sqrt(len(ordered)) / 2
    low = max(0, math.floor(len(ordered) / 2 - half))
    high = min(len(ordered) - 1, math.ceil(len(ordered) / 2 + half) - 1)
    return float(np.exp(np.median(logs))), (float(np.exp(ordered[low])), float(np.exp(ordered[high])))
