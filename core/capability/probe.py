"""The probe: every operator in every precision built as a model, opened, run, read back and timed against fp32."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import onnx_ir as ir

from core.capability.forms import Form, NoForm, forms
from core.capability.grid import BEST_FIRST, Capability, CapabilityGrid
from core.capability.operators import OPERATORS, Array, OneOperator
from core.capability.saturation import saturates
from core.capability.states import state_of
from core.capability.timing import speedup
from core.errors import RunError
from core.progress import Progress
from core.recipe.precision import Precision, Support
from core.runtime.attribute import read_executed
from core.runtime.session import open_session
from core.runtime.settings import SessionSettings
from core.runtime.values import Value, as_array, as_values, run_values

_REFUSED = "onnxruntime cannot open the model: "
#: Rounding to four bits leaves 15 dB and more; a kernel that computes something else leaves about nothing.
_WRONG_DB = 6.0


def probe(
    settings: SessionSettings,
    progress: Progress,
    *,
    precisions: Sequence[Precision] = tuple(Precision),
    operators: Sequence[OneOperator] = OPERATORS,
    clock: Callable[[], float] = time.perf_counter,
) -> CapabilityGrid:
    """Tries these operators in these precisions; a precision takes one to a few seconds.

    Args:
        settings: threads and provider.
        progress: is told how far it is.
        precisions: what is tried.
        operators: on which operators.
        clock: seconds.
    """
    prober = _Prober(settings, saturates(settings), clock, {})
    rows, total = list[Capability](), len(precisions) * len(operators)
    for precision in precisions:
        for operator in operators:
            progress.step(len(rows), total, f"{operator.op_type} {operator.signature} in {precision}")
            rows.append(prober.row(operator, precision))
    return CapabilityGrid(tuple(rows), prober.saturates)


@dataclass(frozen=True, slots=True)
class _Found:
    state: Support
    why: str
    speedup: float | None = None
    ci95: tuple[float, float] | None = None


@dataclass(frozen=True)
class _Open:
    """A form with its open session."""

    form: Form
    run: Callable[[], Sequence[Value]]

    def result(self) -> Array:
        """What it gives, in fp32."""
        return self.form.values(as_array(self.run()[0]))


@dataclass(frozen=True)
class _Prober:
    settings: SessionSettings
    saturates: bool
    clock: Callable[[], float]
    references: dict[tuple[str, str], _Open | None]

    def row(self, operator: OneOperator, precision: Precision) -> Capability:
        """What comes of the best way to write this operator in this precision."""
        written = forms(operator, precision, saturates=self.saturates)
        if isinstance(written, NoForm):
            found = _Found(Support.UNAVAILABLE, written.why)
        else:
            tried = [self._try(operator, precision, form) for form in written]
            found = min(tried, key=lambda each: (BEST_FIRST.index(each.state), -(each.speedup or 0.0)))
        return Capability(
            op=operator.op_type,
            signature=operator.signature,
            precision=precision,
            provider=self.settings.provider,
            state=found.state,
            speedup=found.speedup,
            ci95=found.ci95,
            why=found.why,
        )

    def _try(self, operator: OneOperator, precision: Precision, form: Form) -> _Found:
        try:
            opened = self._open(form)
            result = opened.result()
            state = state_of(precision, read_executed(form.model, self.settings).nodes)
        except RunError as error:
            return _Found(Support.UNAVAILABLE, error.message.removeprefix(_REFUSED))
        why = f"{state.why}, {form.note}" if form.note else state.why
        if precision is Precision.FP32:
            return _Found(state.support, why, 1.0, (1.0, 1.0))
        reference = self._reference(operator)
        if reference is None:
            return _Found(state.support, why)
        sqnr_db = _sqnr_db(reference.result(), result)
        if sqnr_db < _WRONG_DB:
            return _Found(Support.UNAVAILABLE, f"{why}, and its results are wrong ({sqnr_db:.1f} dB against fp32)")
        if not state.has_speed:
            return _Found(state.support, why)
        return _Found(state.support, why, *speedup(reference.run, opened.run, self.clock))

    def _reference(self, operator: OneOperator) -> _Open | None:
        """The operator in fp32, opened once; None where even that is refused."""
        name = (operator.op_type, operator.signature)
        if name not in self.references:
            written = forms(operator, Precision.FP32)
            assert not isinstance(written, NoForm)
            try:
                self.references[name] = self._open(written[0])
            except RunError:
                self.references[name] = None
        return self.references[name]

    def _open(self, form: Form) -> _Open:
        session = open_session(ir.to_proto(form.model).SerializeToString(), self.settings)
        return _Open(form, partial(run_values, session, as_values(form.feed)))


def _sqnr_db(expected: Array, got: Array) -> float:
    """Signal over noise; minus infinity where they cannot be compared, infinity where they are equal."""
    if expected.shape != got.shape or not np.isfinite(got).all():
        return -math.inf
    signal, noise = float(np.square(expected).sum()), float(np.square(expected - got).sum())
    if noise == 0:
        return math.inf
    return 10 * math.log10(signal / noise) if signal > 0 else -math.inf
