"""Comparisons: one model against another on the same samples: latency in pairs, fidelity, accuracy, size, memory.

All ratios are above 1 where the second model is better. The verdict is about latency, unless accuracy or fidelity has
plainly fallen: then it is "worse", however fast the model has become.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from core.intake.dataset import Dataset, Split
from core.intake.model import Openable
from core.intake.pack import size_of
from core.measure.accuracy import Accuracy, Tally
from core.measure.fidelity import Chosen, Fidelity, fidelity_of_pairs
from core.measure.latency import PairedLatency
from core.measure.outputs import float_shapes, iterate_outputs
from core.measure.paired import measure_pair
from core.measure.target import Target, TargetVerdict, parse_target
from core.progress import Progress, Silent
from core.runtime.conditions import Conditions
from core.runtime.machine import read_conditions
from core.runtime.settings import SessionSettings

Array = np.ndarray[Any, np.dtype[Any]]
Verdict = Literal["better", "no difference seen", "worse", "too noisy"]

#: Without labels, a model that agrees with the original less than this is called worse however fast; so is one below
#: this SQNR where outputs choose no class.
LEAST_AGREEMENT = 0.90
LEAST_SQNR_DB = 10.0

#: An interval, or a noise of the original against itself, beyond this is too wide to call "no difference".
NOISY = 0.10


@dataclass(frozen=True)
class Comparison:
    """What a comparison found; `why` is the verdict's reason in a sentence."""

    latency: PairedLatency
    before_bytes: int
    after_bytes: int
    fidelity: Fidelity
    accuracy: Accuracy
    gate: TargetVerdict | None
    verdict: Verdict
    why: str
    conditions: Conditions

    def judge(self, target: Target) -> TargetVerdict:
        """The target against what was measured.

        Raises:
            TargetError: this data and model cannot answer it.
        """
        return target.judge(
            fidelity=self.fidelity,
            accuracy=self.accuracy,
            latency=self.latency,
            size_bytes=self.after_bytes,
            seed=self.conditions.seed,
        )

    def unchanged(self) -> Comparison:
        """The same samples and conditions with the original in the candidate's place: nothing changed, nothing lost."""
        return replace(
            self,
            latency=self.latency.unchanged(),
            after_bytes=self.before_bytes,
            fidelity=self.fidelity.unchanged(),
            accuracy=self.accuracy.unchanged(),
            gate=None,
            verdict="no difference seen",
            why="It is the original, unchanged.",
        )

    def to_dict(self) -> dict[str, Any]:
        """The `compare` document, with conditions."""
        latency = self.latency
        return {
            "ratio": {
                "latency": {"value": latency.ratio, "ci95": list(latency.ci95)},
                "p95": latency.p95_ratio,
                "throughput": latency.after_throughput / latency.before_throughput,
                "size": self.before_bytes / self.after_bytes if self.after_bytes else None,
                "memory": latency.memory_ratio,
            },
            "latency": latency.to_dict(),
            "throughput": {"before_per_s": latency.before_throughput, "after_per_s": latency.after_throughput},
            "size": {"before_bytes": self.before_bytes, "after_bytes": self.after_bytes},
            "memory": {"before_bytes": latency.before_memory_bytes, "after_bytes": latency.after_memory_bytes},
            "accuracy": self.accuracy.to_dict(),
            "fidelity": self.fidelity.to_dict(),
            "noise": {
                "aa_ci95": None if latency.noise_ci95 is None else list(latency.noise_ci95),
                "smallest_effect": latency.smallest_effect,
            },
            "verdict": self.verdict,
            "why": self.why,
            "gate": None if self.gate is None else _gate(self.gate),
            "conditions": self.conditions.to_dict(),
        }


def compare_models(
    original: Openable,
    candidate: Openable,
    dataset: Dataset,
    *,
    split: Split = Split.HOLDOUT,
    settings: SessionSettings,
    batch: int = 1,
    seed: int = 0,
    budget_s: float = 10.0,
    gate: str | None = None,
    outputs: Chosen = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compares two models with the same inputs and outputs.

    Args:
        original: serialized model or its file.
        candidate: likewise.
        dataset: samples, with or without labels.
        split: which samples; where the split is empty, all of them.
        settings: of all sessions.
        batch: samples per run of the timing.
        seed: of the order and of the intervals.
        budget_s: seconds of timing.
        gate: a target that the candidate must meet, as text.
        outputs: which outputs count for fidelity and accuracy, with their weights; None for all.
        progress: is told how far it is.

    Raises:
        TargetError: the gate cannot be read, or this data and model cannot answer it.
        DataError: an output that the model does not have, or samples that cannot run together.
        RunError: one of the models fails; CrashedError: its process died.
    """
    told = progress or Silent()
    wanted = None if gate is None else parse_target(gate)
    conditions = read_conditions(settings, batch=batch, seed=seed)
    indices = dataset.indices_or_all(split)
    told.phase("Compare the answers", start=0.0, end=0.4)
    pairs = _answer_pairs((original, candidate), dataset, indices, settings, told)
    fidelity, accuracy = _judge_answers(pairs, indices, dataset, outputs)
    if wanted is not None:
        wanted.judge(fidelity=fidelity, accuracy=accuracy)  # what cannot be answered is refused before the timing
    told.phase("Time in pairs", start=0.4, end=1.0)
    latency = time_pair(
        original,
        candidate,
        dataset,
        split=split,
        settings=settings,
        batch=batch,
        seed=seed,
        budget_s=budget_s,
        progress=told,
    )
    sizes = size_of(original), size_of(candidate)
    verdict, why = decide(latency, fidelity, accuracy, same=_are_one(original, candidate))
    found = Comparison(latency, *sizes, fidelity, accuracy, None, verdict, why, conditions)
    return found if wanted is None else replace(found, gate=found.judge(wanted))


def time_pair(
    original: Openable,
    candidate: Openable,
    dataset: Dataset,
    *,
    split: Split = Split.HOLDOUT,
    settings: SessionSettings,
    batch: int = 1,
    seed: int = 0,
    budget_s: float = 10.0,
    progress: Progress | None = None,
) -> PairedLatency:
    """Only the timing of `compare_models`, in fresh processes; arguments and errors as there."""
    return measure_pair(
        original,
        candidate,
        dataset,
        dataset.indices_or_all(split),
        settings=settings,
        batch=batch,
        seed=seed,
        budget_s=budget_s,
        noise=True,
        progress=progress or Silent(),
    )


def decide(
    latency: PairedLatency, fidelity: Fidelity, accuracy: Accuracy, *, same: bool = False
) -> tuple[Verdict, str]:
    """The verdict in a word, and its reason in a sentence; `same` says that both are one model, byte by byte."""
    low, high = latency.ci95
    kind = " in processor time" if latency.basis == "processor" else ""
    speed = f"{latency.ratio:.2f} times as fast{kind} (95 %: {low:.2f} to {high:.2f})"
    if same:
        return "no difference seen", f"Both are the same model; that one of them ran {speed} is this machine's noise."
    if fidelity.broken:
        return "worse", f"It is {speed}, but {fidelity.why}."
    if accuracy.ci95_change is not None and accuracy.ci95_change[1] < 0:
        return "worse", f"It is {speed}, but its accuracy fell {_change(accuracy)}."
    lost = None if accuracy.before is not None else _lost(fidelity)
    if lost is not None:
        return "worse", f"It is {speed}, but {lost}."
    noise = latency.smallest_effect or 0.0
    if not latency.trustworthy:
        return "too noisy", f"The machine was too busy to tell: the original differs from itself by {_percent(noise)}."
    doubt = noise if noise > NOISY else 0.0
    if low > 1 + doubt and latency.ratio > 1 + noise:
        return "better", f"It is {speed}."
    if high < 1 - doubt and latency.ratio < 1 - noise:
        return "worse", f"It is slower: {speed}."
    if max(noise, (high - low) / 2) > NOISY:
        return "too noisy", f"The machine was too busy to tell: {speed}, the original against itself {_percent(noise)}."
    return "no difference seen", f"It is {speed}; differences below {_percent(noise)} cannot be seen here."


def _are_one(first: Openable, second: Openable) -> bool:
    """Whether both are the same bytes and, with weights in other files, lie in the same place."""
    if isinstance(first, Path) and isinstance(second, Path):
        return first.samefile(second)
    return first == second


def _lost(fidelity: Fidelity) -> str | None:
    """What was plainly lost where there are no labels, or None."""
    if fidelity.agreement is not None:
        plain = fidelity.agreement < LEAST_AGREEMENT
        return f"only {_percent(fidelity.agreement)} of its answers are the original's" if plain else None
    if fidelity.sqnr_db is not None and fidelity.sqnr_db < LEAST_SQNR_DB:
        return f"its outputs are only {fidelity.sqnr_db:.1f} dB above their error"
    return None


def _gate(verdict: TargetVerdict) -> dict[str, Any]:
    each = [judgement.to_dict() for judgement in verdict.judgements]
    return {"text": verdict.text, "met": verdict.met, "broken": list(verdict.broken), "each": each}


def _answer_pairs(
    models: tuple[Openable, Openable],
    dataset: Dataset,
    indices: Sequence[int],
    settings: SessionSettings,
    progress: Progress,
) -> Iterator[tuple[Mapping[str, Array], Mapping[str, Array]]]:
    """Both models' outputs, sample by sample: memory does not grow with the data."""
    before, after = (iterate_outputs(model, dataset, indices, settings) for model in models)
    for done, pair in enumerate(zip(before, after, strict=True)):
        progress.step(done, len(indices), f"sample {done + 1}")
        yield pair


def _judge_answers(
    pairs: Iterator[tuple[Mapping[str, Array], Mapping[str, Array]]],
    indices: Sequence[int],
    dataset: Dataset,
    outputs: Chosen,
) -> tuple[Fidelity, Accuracy]:
    shapes = float_shapes(dataset)
    tally = Tally(dataset.labels, outputs=outputs, input_shapes=shapes)
    fidelity = fidelity_of_pairs(_tallied(pairs, indices, tally), outputs=outputs, input_shapes=shapes)
    return fidelity, tally.finish()


def _tallied(
    pairs: Iterator[tuple[Mapping[str, Array], Mapping[str, Array]]], indices: Sequence[int], tally: Tally
) -> Iterator[tuple[Mapping[str, Array], Mapping[str, Array]]]:
    for index, (before, after) in zip(indices, pairs, strict=True):
        tally.add(index, before, after)
        yield before, after


def _change(accuracy: Accuracy) -> str:
    return f"from {_percent(accuracy.before or 0.0)} to {_percent(accuracy.after or 0.0)}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
