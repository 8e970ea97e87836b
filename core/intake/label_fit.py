"""Label fit: whether labels can be right for what a model answers, as far as the file says; a remark where they cannot.

No error: every figure but the accuracy can be measured all the same.
"""

from __future__ import annotations

import numpy as np

from core.intake.feeds import Array
from core.intake.model import Model, TensorSpec

_SHOWN = 20


def label_remarks(model: Model, labels: Array | None) -> tuple[str, ...]:
    """What is wrong with labels, one per sample, of a model whose only answer is a row of class scores."""
    scores = _scores(model)
    if labels is None or scores is None or labels.size != len(labels):
        return ()
    name, classes = scores
    takes = f"output '{name}' has {classes} classes, numbered 0 to {classes - 1}"
    given = labels.reshape(-1)
    if given.dtype.kind in "OUS":
        return (f"Labels are texts ('{str(given[0])[:_SHOWN]}'), but {takes}: give class numbers.",)
    if given.dtype.kind not in "iuf" or not np.all(given == np.round(given)):
        return ()
    wrong = given[(given < 0) | (given >= classes)]
    if not len(wrong):
        return ()
    what = f"{len(wrong)} of {len(given)} labels ({int(wrong[0])} is the first)"
    return (f"{what} cannot be right: {takes}.",)


def _scores(model: Model) -> tuple[str, int] | None:
    """Name and number of classes of the only output with two dimensions; None where other outputs may answer as well.

    An output of numbers or texts that are classes themselves may name them as it likes.
    """
    if not all("float" in spec.dtype for spec in model.outputs):
        return None
    found = [spec for spec in model.outputs if spec.shape is not None and len(spec.shape) == 2]
    if len(found) != 1:
        return None
    classes = _classes(found[0])
    return None if classes is None else (found[0].name, classes)


def _classes(spec: TensorSpec) -> int | None:
    """One number per sample is no choice between classes."""
    size = spec.shape[-1] if spec.shape else None
    return size if isinstance(size, int) and size > 1 else None
