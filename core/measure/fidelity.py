"""Fidelity: how far a candidate's outputs are from the original's; no labels needed.

    SQNR      see `core.measure.noise`: dB over all samples of one float output
    cosine    sum ref got / sqrt(sum ref^2 sum got^2) over all samples of one float output
    KL        mean over samples of KL(ref || got) of class probabilities, in nats
    agreement share of samples with the same top answer, see `core.measure.answers` for which outputs say one

Of several outputs the worst rules; for the SQNR each output's noise counts as often as its weight says. Sums run sample
by sample, so memory does not grow with the data.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.errors import DataError, did_you_mean
from core.measure.answers import Shapes, divergence, read_alike, read_answers, same_answer
from core.measure.intervals import bootstrap
from core.measure.noise import CAP_DB, decibels, weighted_db

Array = np.ndarray[Any, np.dtype[Any]]
Samples = Mapping[str, Array]
#: Output names that count, with their weights where it is a mapping; None: all, each with weight 1.
Chosen = Collection[str] | Mapping[str, float] | None

IDENTICAL_DB = CAP_DB


@dataclass(frozen=True)
class OutputFidelity:
    """The figures of one output, and per sample what they are made of: `signal` sum ref^2, `noise` sum (ref - got)^2.

    `broken` says in words why there is no SQNR although the output is of floats: values that are not finite, another
    shape. `weight`: how often its noise counts where the worst output is sought; `sqnr_db` is without it.
    """

    name: str
    sqnr_db: float | None
    cosine: float | None
    max_abs_error: float | None
    kl: float | None
    agreement: float | None
    broken: str | None = None
    weight: float = 1.0
    signal: Array = field(default_factory=lambda: np.zeros(0), repr=False)
    noise: Array = field(default_factory=lambda: np.zeros(0), repr=False)
    agrees: Array = field(default_factory=lambda: np.zeros(0, bool), repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The figures; absent is None."""
        figures = {name: getattr(self, name) for name in ("sqnr_db", "cosine", "max_abs_error", "kl", "agreement")}
        return {"output": self.name, "name": self.name, "weight": self.weight, **figures, "why": self.broken}

    @property
    def ruling_db(self) -> float | None:
        """The SQNR with the weight in it: what is compared with that of the other outputs."""
        return None if self.sqnr_db is None else weighted_db(self.sqnr_db, self.weight)


@dataclass(frozen=True)
class Fidelity:
    """The worst figures over the chosen outputs, the SQNR with the outputs' weights; None where one does not apply.

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
        outputs = [_identical(output, self.samples) for output in self.outputs]
        return _worst(outputs, [None if self.agreement is None else True] * self.samples)

    def sqnr_bound_db(self, *, seed: int) -> float | None:
        """One-sided 95 % lower bound of the SQNR, by bootstrap over samples; of several outputs the worst rules."""
        if self.sqnr_db is None:
            return None
        measured = [output for output in self.outputs if output.sqnr_db is not None]

        def worst(rows: Array) -> Array:
            each = [decibels(o.signal[rows].sum(axis=1), o.weight * o.noise[rows].sum(axis=1)) for o in measured]
            return np.asarray(np.min(each, axis=0))

        return float(np.percentile(bootstrap(worst, len(measured[0].signal), seed=seed), 5))


def fidelity(
    reference: Iterable[Samples], got: Iterable[Samples], *, outputs: Chosen = None, input_shapes: Shapes = ()
) -> Fidelity:
    """Compares outputs sample by sample.

    Args:
        reference: the original's outputs, one mapping per sample (may be a generator).
        got: the candidate's, in the same order.
        outputs: which outputs count, with their weights where it is a mapping; None for all.
        input_shapes: shapes of the float inputs: a row of scores that has one of them is no choice of a class.

    Raises:
        DataError: an output that the model does not have.
    """
    return fidelity_of_pairs(zip(reference, got, strict=True), outputs=outputs, input_shapes=input_shapes)


def fidelity_of_pairs(
    pairs: Iterable[tuple[Samples, Samples]], *, outputs: Chosen = None, input_shapes: Shapes = ()
) -> Fidelity:
    """As `fidelity`, from pairs of (original's outputs, candidate's outputs), one per sample."""
    found: dict[str, _Sums] = {}
    samples = 0
    for before, after in pairs:
        samples += 1
        for name in choose_outputs(before, outputs):
            sums = found.setdefault(name, _Sums(name, input_shapes))
            sums.add(samples - 1, before[name], after.get(name))
    weights = outputs if isinstance(outputs, Mapping) else {}
    finished = [sums.finish(weights.get(name, 1.0)) for name, sums in found.items()]
    return _worst(finished, _answers([sums for sums in found.values() if sums.says_classes], samples))


def choose_outputs(known: Collection[str], wanted: Collection[str] | None) -> list[str]:
    """The outputs that count.

    Raises:
        DataError: one that the model does not have; the nearest name is suggested.
    """
    if wanted is None:
        return list(known)
    for name in wanted:
        if name not in known:
            message = f"The model has no output '{name}'.{did_you_mean(name, known)}"
            raise DataError(message, hint=f"Outputs: {', '.join(known)}.")
    return list(wanted)


def _answers(outputs: list[_Sums], samples: int) -> list[bool | None]:
    """Per sample whether every output that says an answer says the same; None where none does."""
    found: list[bool | None] = []
    for index in range(samples):
        told = [sums.agrees[index] for sums in outputs if index in sums.agrees]
        found.append(all(told) if told else None)
    return found


class _Sums:
    """The running sums of one output."""

    def __init__(self, name: str, input_shapes: Shapes) -> None:
        self.name = name
        self._input_shapes = input_shapes
        self.signal: list[float] = []
        self.noise: list[float] = []
        self.products = [0.0, 0.0, 0.0]
        self.largest = 0.0
        self.divergences: list[float] = []
        self.agrees: dict[int, bool] = {}
        self.broken: str | None = None
        self.floats = False
        self._lengths: set[int] = set()

    @property
    def says_classes(self) -> bool:
        """Whether its rows choose among the same classes in every sample: what varies in length is a signal."""
        return len(self._lengths) <= 1

    def add(self, index: int, reference: Array, got: Array | None) -> None:
        """Adds one sample."""
        self.floats |= reference.dtype.kind == "f"
        if got is None or got.shape != reference.shape:
            self.broken = self.broken or self._other_shape(reference, got)
        elif reference.dtype.kind == "f":
            self._add_floats(reference.astype(np.float64), got.astype(np.float64))
        same = self._compare_answers(reference, got)
        if same is not None:
            self.agrees[index] = same

    def _other_shape(self, reference: Array, got: Array | None) -> str:
        now = "missing" if got is None else f"of shape {list(got.shape)}"
        return f"output '{self.name}' is {now} where the original's has shape {list(reference.shape)}"

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

    def _compare_answers(self, reference: Array, got: Array | None) -> bool | None:
        before = read_answers(reference, input_shapes=self._input_shapes)
        if before is None:
            return None
        if before.scores and before.classes is not None:
            self._lengths.add(before.classes)
        after = None if got is None or got.shape != reference.shape else read_alike(got, before)
        if after is None:
            return False
        distance = divergence(before, after)
        if distance is not None:
            self.divergences.append(distance)
        return same_answer(before, after)

    def finish(self, weight: float) -> OutputFidelity:
        signal, noise = np.array(self.signal), np.array(self.noise)
        sound = self.floats and self.broken is None
        divergences = self.divergences if self.says_classes and self.broken is None else []
        told = list(self.agrees.values()) if self.says_classes else []
        return OutputFidelity(
            name=self.name,
            sqnr_db=float(decibels(signal.sum(), noise.sum())) if sound else None,
            cosine=_cosine(*self.products) if sound else None,
            max_abs_error=self.largest if sound else None,
            kl=float(np.mean(divergences)) if divergences else None,
            agreement=float(np.mean(told)) if told else None,
            broken=self.broken,
            weight=weight,
            signal=signal,
            noise=noise,
            agrees=np.array(told, bool),
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
        weight=output.weight,
        signal=np.ones(samples),
        noise=np.zeros(samples),
        agrees=np.ones(samples, bool) if answers else np.zeros(0, bool),
    )


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
        sqnr_db=least("ruling_db"),
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
