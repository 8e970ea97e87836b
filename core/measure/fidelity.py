"""Fidelity: how far a candidate's outputs are from the original's; no labels needed.

    SQNR      10 log10(sum ref^2 / sum (ref - got)^2) over all samples of one float output, in dB, capped at +-200
    cosine    sum ref got / sqrt(sum ref^2 sum got^2) over all samples of one float output
    KL        mean over samples of KL(ref || got) of class probabilities, in nats
    agreement share of samples with the same top answer

Of several outputs the worst rules. Sums run sample by sample, so memory does not grow with the data.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.errors import DataError, did_you_mean
from core.measure.answers import divergence, read_answers, same_answer
from core.measure.intervals import bootstrap

Array = np.ndarray[Any, np.dtype[Any]]

IDENTICAL_DB = 200.0


@dataclass(frozen=True)
class OutputFidelity:
    """The figures of one output, and per sample what they are made of: `signal` sum ref^2, `noise` sum (ref - got)^2.

    `broken` says in words why there is no SQNR although the output is of floats: values that are not finite, another
    shape.
    """

    name: str
    sqnr_db: float | None
    cosine: float | None
    max_abs_error: float | None
    kl: float | None
    agreement: float | None
    broken: str | None = None
    signal: Array = field(default_factory=lambda: np.zeros(0), repr=False)
    noise: Array = field(default_factory=lambda: np.zeros(0), repr=False)
    agrees: Array = field(default_factory=lambda: np.zeros(0, bool), repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The figures; absent is None."""
        figures = {name: getattr(self, name) for name in ("sqnr_db", "cosine", "max_abs_error", "kl", "agreement")}
        return {"output": self.name, **figures, "why": self.broken}


@dataclass(frozen=True)
class Fidelity:
    """The worst figures over the chosen outputs; None where a figure does not apply.

    `why` says why there is no SQNR. `broken`: an output is no longer finite or has another shape, which is worse than
    any number: `sqnr_db` is then None and no SQNR target is met. `disagreements` counts samples whose answer changed.
    """

    sqnr_db: float | None
    cosine: float | None
    max_abs_error: float | None
    kl: float | None
    agreement: float | None
    samples: int = 0
    disagreements: int | None = None
    broken: bool = False
    why: str | None = None
    outputs: tuple[OutputFidelity, ...] = field(default=(), repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The `fidelity` object of the documents, with the figures of each output."""
        figures = {name: getattr(self, name) for name in ("sqnr_db", "cosine", "max_abs_error", "kl", "agreement")}
        each = [output.to_dict() for output in self.outputs]
        return {**figures, "samples": self.samples, "why": self.why, "outputs": each}

    def unchanged(self) -> Fidelity:
        """That of the original against itself on the same samples."""
        outputs = tuple(_identical(output, self.samples) for output in self.outputs)
        return _worst(list(outputs), [None if self.agreement is None else True] * self.samples)

    def sqnr_bound_db(self, *, seed: int) -> float | None:
        """One-sided 95 % lower bound of the SQNR, by bootstrap over samples; of several outputs the worst rules."""
        if self.sqnr_db is None:
            return None
        measured = [output for output in self.outputs if output.sqnr_db is not None]

        def worst(rows: Array) -> Array:
            each = [_decibels(o.signal[rows].sum(axis=1), o.noise[rows].sum(axis=1)) for o in measured]
            return np.asarray(np.min(each, axis=0))

        return float(np.percentile(bootstrap(worst, len(measured[0].signal), seed=seed), 5))


def fidelity(
    reference: Iterable[Mapping[str, Array]],
    got: Iterable[Mapping[str, Array]],
    *,
    outputs: Collection[str] | None = None,
) -> Fidelity:
    """Compares outputs sample by sample.

    Args:
        reference: the original's outputs, one mapping per sample (may be a generator).
        got: the candidate's, in the same order.
        outputs: which outputs count; None for all.

    Raises:
        DataError: an output that the model does not have.
    """
    return fidelity_of_pairs(zip(reference, got, strict=True), outputs=outputs)


def fidelity_of_pairs(
    pairs: Iterable[tuple[Mapping[str, Array], Mapping[str, Array]]], *, outputs: Collection[str] | None = None
) -> Fidelity:
    """As `fidelity`, from pairs of (original's outputs, candidate's outputs), one per sample."""
    found: dict[str, _Sums] = {}
    answers: list[bool | None] = []
    for before, after in pairs:
        names = _chosen(before, outputs)
        same = [found.setdefault(name, _Sums(name)).add(before[name], after.get(name)) for name in names]
        told = [value for value in same if value is not None]
        answers.append(all(told) if told else None)
    return _worst([sums.finish() for sums in found.values()], answers)


def _chosen(outputs: Mapping[str, Array], wanted: Collection[str] | None) -> list[str]:
    if wanted is None:
        return list(outputs)
    for name in wanted:
        if name not in outputs:
            message = f"The model has no output '{name}'.{did_you_mean(name, outputs)}"
            raise DataError(message, hint=f"Outputs: {', '.join(outputs)}.")
    return list(wanted)


class _Sums:
    """The running sums of one output."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.signal: list[float] = []
        self.noise: list[float] = []
        self.products = [0.0, 0.0, 0.0]
        self.largest = 0.0
        self.divergences: list[float] = []
        self.agrees: list[bool] = []
        self.broken: str | None = None
        self.floats = False

    def add(self, reference: Array, got: Array | None) -> bool | None:
        """Adds one sample; returns whether its answer is the same (None: this output says no answer)."""
        if got is None or got.shape != reference.shape:
            self.broken = self.broken or self._other_shape(reference, got)
            self.floats |= reference.dtype.kind == "f"
            return self._agree(same=False)
        if reference.dtype.kind == "f":
            self.floats = True
            self._add_floats(reference.astype(np.float64), got.astype(np.float64))
        return self._compare_answers(reference, got)

    def _other_shape(self, reference: Array, got: Array | None) -> str:
        now = "missing" if got is None else f"of shape {list(got.shape)}"
        return f"output '{self.name}' is {now} where the original's has shape {list(reference.shape)}"

    def _agree(self, *, same: bool) -> bool:
        self.agrees.append(same)
        return same

    def _add_floats(self, reference: Array, got: Array) -> None:
        finite = np.isfinite(reference)
        matches = np.isfinite(got) | ~finite
        if not matches.all():
            count = int((~matches).sum())
            self.broken = self.broken or f"output '{self.name}' has values that are not finite ({count} in one sample)"
            finite = finite & np.isfinite(got)
        ref, new = reference[finite], got[finite]
        error = ref - new
        self.signal.append(float(ref @ ref))
        self.noise.append(float(error @ error))
        for index, value in enumerate((ref @ new, ref @ ref, new @ new)):
            self.products[index] += float(value)
        self.largest = max(self.largest, float(np.abs(error).max(initial=0.0)))

    def _compare_answers(self, reference: Array, got: Array) -> bool | None:
        before = read_answers(reference)
        if before is None:
            return None
        after = read_answers(got)
        if after is None:
            return self._agree(same=False)
        distance = divergence(before, after)
        if distance is not None:
            self.divergences.append(distance)
        return self._agree(same=same_answer(before, after))

    def finish(self) -> OutputFidelity:
        signal, noise = np.array(self.signal), np.array(self.noise)
        sound = self.floats and self.broken is None
        return OutputFidelity(
            name=self.name,
            sqnr_db=float(_decibels(signal.sum(), noise.sum())) if sound else None,
            cosine=_cosine(*self.products) if sound else None,
            max_abs_error=self.largest if sound else None,
            kl=float(np.mean(self.divergences)) if self.divergences and self.broken is None else None,
            agreement=float(np.mean(self.agrees)) if self.agrees else None,
            broken=self.broken,
            signal=signal,
            noise=noise,
            agrees=np.array(self.agrees, bool),
        )


def _identical(output: OutputFidelity, samples: int) -> OutputFidelity:
    floats = output.sqnr_db is not None or output.broken is not None
    answers = output.agreement is not None
    return OutputFidelity(
        name=output.name,
        sqnr_db=IDENTICAL_DB if floats else None,
        cosine=1.0 if floats else None,
        max_abs_error=0.0 if floats else None,
        kl=None if output.kl is None else 0.0,
        agreement=1.0 if answers else None,
        signal=np.ones(samples),
        noise=np.zeros(samples),
        agrees=np.ones(samples, bool) if answers else np.zeros(0, bool),
    )


def _decibels(signal: Any, noise: Any) -> Any:
    """10 log10(signal / noise), between -200 and 200; 200 where there is no noise."""
    signal, noise = np.asarray(signal, np.float64), np.asarray(noise, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = 10 * (np.log10(signal) - np.log10(noise))
    return np.where(noise == 0, IDENTICAL_DB, np.clip(value, -IDENTICAL_DB, IDENTICAL_DB))


def _cosine(products: float, reference: float, got: float) -> float:
    if reference == 0 or got == 0:
        return 1.0 if reference == got else 0.0
    return min(1.0, max(-1.0, products / math.sqrt(reference * got)))


def _worst(outputs: list[OutputFidelity], answers: list[bool | None]) -> Fidelity:
    broken = next((output.broken for output in outputs if output.broken), None)
    told = [same for same in answers if same is not None]

    def least(name: str) -> float | None:
        values = [getattr(output, name) for output in outputs if getattr(output, name) is not None]
        return min(values) if values and broken is None else None

    def most(name: str) -> float | None:
        values = [getattr(output, name) for output in outputs if getattr(output, name) is not None]
        return max(values) if values and broken is None else None

    nothing = (
        None if any(output.sqnr_db is not None for output in outputs) else "no output holds floating-point numbers"
    )
    return Fidelity(
        sqnr_db=least("sqnr_db"),
        cosine=least("cosine"),
        max_abs_error=most("max_abs_error"),
        kl=most("kl"),
        agreement=sum(told) / len(told) if told else None,
        samples=len(answers),
        disagreements=len(told) - sum(told) if told else None,
        broken=broken is not None,
        why=broken or nothing,
        outputs=tuple(outputs),
    )
