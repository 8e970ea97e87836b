"""Accuracy: how often original and candidate are right, where the data has labels; and how sure the change is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.measure.answers import Answers, Shapes, read_alike, read_answers
from core.measure.intervals import Interval, paired_change, upper_share

Array = np.ndarray[Any, np.dtype[Any]]

TOP_1 = "top-1"


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Accuracy before and after on the same samples; all None where there is none, with the reason in `why`.

    `harmful` counts samples that were right before and are wrong after, `helpful` the other way round.
    `ci95_change` is the interval of after - before.
    """

    metric: str | None = None
    before: float | None = None
    after: float | None = None
    ci95_change: Interval | None = None
    harmful: int | None = None
    helpful: int | None = None
    samples: int = 0
    why: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The `accuracy` object of the documents."""
        return {
            "metric": self.metric,
            "before": self.before,
            "after": self.after,
            "ci95_change": None if self.ci95_change is None else list(self.ci95_change),
            "harmful": self.harmful,
            "helpful": self.helpful,
            "samples": self.samples,
            "why": self.why,
        }

    def unchanged(self) -> Accuracy:
        """That of the original against itself on the same samples."""
        if self.before is None:
            return self
        return replace(self, after=self.before, ci95_change=(0.0, 0.0), harmful=0, helpful=0)

    @property
    def lower_bound(self) -> float | None:
        """One-sided 95 % bound of the accuracy after.

        Harmful flips count with their exact binomial upper bound among the samples that were right before, helpful
        ones as they were seen.
        """
        if self.before is None or self.harmful is None or self.helpful is None:
            return None
        right = round(self.before * self.samples)
        lost = upper_share(self.harmful, right) * right if right else 0.0
        return (right - lost + self.helpful) / self.samples


def accuracy(
    labels: Array | None,
    indices: Sequence[int],
    reference: Iterable[Mapping[str, Array]],
    got: Iterable[Mapping[str, Array]],
    *,
    outputs: Collection[str] | None = None,
    input_shapes: Shapes = (),
) -> Accuracy:
    """Share of samples whose top answer is the label, before and after.

    Args:
        labels: of all samples of the data set (first axis: samples), or None.
        indices: the samples that were run.
        reference: the original's outputs, one mapping per index.
        got: the candidate's.
        outputs: which outputs may be judged; None for all.
        input_shapes: shapes of the float inputs, as for `fidelity`.
    """
    tally = Tally(labels, outputs=outputs, input_shapes=input_shapes)
    for index, before, after in zip(indices, reference, got, strict=True):
        tally.add(index, before, after)
    return tally.finish()


class Tally:
    """Counts right answers sample by sample.

    The first output that says classes (see `core.measure.answers`) and is compatible with the labels is judged: class
    scores (or one row per position) against integer labels, or an output of integers or texts against labels of its
    kind.
    """

    def __init__(
        self, labels: Array | None, *, outputs: Collection[str] | None = None, input_shapes: Shapes = ()
    ) -> None:
        self._labels = labels
        self._outputs = outputs
        self._input_shapes = input_shapes
        self._right: dict[str, list[tuple[bool | None, bool | None]]] = {}

    def add(self, index: int, before: Mapping[str, Array], after: Mapping[str, Array]) -> None:
        """Adds the outputs of one sample."""
        if self._labels is None:
            return
        label = np.asarray(self._labels[index]).reshape(-1)
        for name in before:
            if self._outputs is None or name in self._outputs:
                self._right.setdefault(name, []).append(self._judge(before[name], after.get(name), label))

    def _judge(self, before: Array, after: Array | None, label: Array) -> tuple[bool | None, bool | None]:
        said = read_answers(before, input_shapes=self._input_shapes)
        alike = None if after is None or said is None or after.shape != before.shape else read_alike(after, said)
        return _is_right(said, label), _is_right(alike, label)

    def finish(self) -> Accuracy:
        """The accuracy over all samples."""
        if self._labels is None:
            return Accuracy(why="the data has no labels")
        if self._labels.dtype.kind == "f" and not np.all(self._labels == np.round(self._labels)):
            return Accuracy(why="the labels are not classes: no metric of this version fits them")
        for pairs in self._right.values():
            if pairs and all(before is not None for before, _ in pairs):
                return _count([bool(before) for before, _ in pairs], [bool(after) for _, after in pairs])
        return Accuracy(why="no output holds class scores that fit the labels" if self._right else "no samples")


def _is_right(answers: Answers | None, label: Array) -> bool | None:
    """Whether the top answer is the label; None where there is none or none of that kind."""
    if answers is None or answers.chosen.shape != label.shape:
        return None
    if (answers.chosen.dtype.kind in "OU") != (label.dtype.kind in "OU"):
        return None
    if answers.probabilities is not None and not _fits(label, answers.probabilities):
        return None
    return bool(np.all(answers.chosen == label))


def _fits(label: Array, probabilities: Array) -> bool:
    return bool(np.all((label >= 0) & (label < probabilities.shape[-1])))


def _count(before: Sequence[bool], after: Sequence[bool]) -> Accuracy:
    samples = len(before)
    harmful = sum(was and not now for was, now in zip(before, after, strict=True))
    helpful = sum(now and not was for was, now in zip(before, after, strict=True))
    return Accuracy(
        metric=TOP_1,
        before=sum(before) / samples,
        after=sum(after) / samples,
        ci95_change=paired_change(helpful, harmful, samples),
        harmful=harmful,
        helpful=helpful,
        samples=samples,
    )
