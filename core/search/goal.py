"""The goal of a search: a target as it must hold on the evaluation samples, so that it also holds on the holdout.

The holdout is looked at once, so the search asks a little more of the evaluation samples than the target says: the
lower bound of the SQNR instead of its estimate, and for accuracy and agreement the flips seen, as the bound that the
holdout's size will demand.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.errors import DataError, TargetError
from core.intake.dataset import Dataset, Split
from core.intake.model import TensorSpec
from core.measure.accuracy import Accuracy, accuracy
from core.measure.answers import Shapes
from core.measure.fidelity import Fidelity, fidelity
from core.measure.intervals import upper_share
from core.measure.outputs import Outputs
from core.measure.target import (
    BOUND_SAMPLES,
    WITH_LABELS,
    WITHOUT_FLOATS,
    WITHOUT_LABELS,
    Condition,
    Judgement,
    Target,
    parse_target,
)

#: Fewer samples than this have no bound worth the name: half a decibel is kept back instead.
_FEWEST_FOR_BOUND = 8
_KEPT_BACK_DB = 0.5
#: Conditions that only the final comparison can judge.
MEASURED_LATER = ("latency", "speedup", "size")


def default_target(dataset: Dataset, outputs: Iterable[TensorSpec]) -> Target:
    """99 % of the accuracy where there are labels, else an SQNR of 25 dB, or 99 % agreement where nothing is a float.

    Args:
        dataset: with or without labels.
        outputs: those that count.
    """
    if dataset.labels is not None:
        return parse_target(WITH_LABELS)
    floats = [spec for spec in outputs if "float" in spec.dtype or "(" in spec.dtype]  # sequences hold floats as well
    return parse_target(WITHOUT_LABELS if floats else WITHOUT_FLOATS)


@dataclass(frozen=True)
class Acceptance:
    """Judges a mix on the evaluation samples `indices`; `holdout` is how many samples the final judgement will have.

    `outputs` are those that count, with their weights; `input_shapes` as for `fidelity`.
    """

    target: Target
    dataset: Dataset
    indices: tuple[int, ...]
    holdout: int
    seed: int
    outputs: Mapping[str, float] | None = None
    input_shapes: Shapes = ()

    @property
    def noise_limit(self) -> float:
        """Noise power that the target allows on its own words; infinite where it says nothing of SQNR."""
        limits = [c.limit for c in self.target.conditions if c.metric == "sqnr"]
        return 10 ** (-max(limits) / 10) if limits else math.inf

    def __call__(self, reference: Sequence[Outputs], got: Sequence[Outputs], noise: float) -> bool:
        """Whether the mix is expected to meet the target on the holdout."""
        if not math.isfinite(noise):
            return False
        faithful = fidelity(reference, got, outputs=self.outputs, input_shapes=self.input_shapes)
        conditions = [c for c in self.target.conditions if c.metric not in MEASURED_LATER]
        return all(self._holds(condition, faithful, reference, got) for condition in conditions)

    def _holds(
        self, condition: Condition, faithful: Fidelity, reference: Sequence[Outputs], got: Sequence[Outputs]
    ) -> bool:
        right = self._accuracy(reference, got) if condition.metric == "accuracy" else None
        judged = Target(condition.text, (condition,)).judge(fidelity=faithful, accuracy=right, seed=self.seed)
        judgement = judged.judgements[0]
        if not judgement.met or judgement.value is None or judgement.required is None:
            return False
        if condition.metric == "sqnr":
            return self._sqnr_holds(judgement, judgement.required)
        flips = faithful.disagreements if right is None else right.harmful
        before = 1.0 if right is None or right.before is None else right.before
        return self._share_holds(flips or 0, before, judgement.required)

    def _accuracy(self, reference: Sequence[Outputs], got: Sequence[Outputs]) -> Accuracy:
        labels, shapes = self.dataset.labels, self.input_shapes
        return accuracy(labels, self.indices, reference, got, outputs=self.outputs, input_shapes=shapes)

    def _sqnr_holds(self, judgement: Judgement, required: float) -> bool:
        if len(self.indices) < _FEWEST_FOR_BOUND or judgement.bound is None:
            return judgement.value is not None and judgement.value >= required + _KEPT_BACK_DB
        return judgement.bound >= required

    def _share_holds(self, flips: int, before: float, required: float) -> bool:
        """Whether as many flips among the holdout's samples would still meet the bound that its size demands."""
        if self.holdout < BOUND_SAMPLES:
            return True
        expected = round(flips / len(self.indices) * self.holdout)
        return before * (1 - upper_share(expected, round(before * self.holdout))) >= required


def check_target(target: Target, dataset: Dataset) -> None:
    """Refuses a target that this data cannot judge before any work is spent on it.

    Raises:
        TargetError: an accuracy without labels.
        DataError: no holdout sample.
    """
    if "accuracy" in target.metrics and dataset.labels is None:
        hint = "Give labels as 'y' in the data, or ask for agreement>=99% or sqnr>=30."
        raise TargetError(f"The target '{target.text}' needs labels, and the data has none.", hint=hint)
    if not dataset.indices(Split.HOLDOUT):
        message = "The data has no holdout sample, so no target can be judged."
        raise DataError(message, hint="Give more samples, or a __split__ with 0, 1 and 2.")
