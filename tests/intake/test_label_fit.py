"""Labels that no output can answer are remarked; where an output may name classes as it likes, nothing is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core.intake.label_fit import label_remarks
from tests.intake.texts import load

SCORES = load("g (float[n,3] x) => (float[n,3] z) { z = Relu (x) }")
ONE = load("g (float[n,1] x) => (float[n,1] z) { z = Relu (x) }")
OPEN = load("g (float[n,k] x) => (float[n,k] z) { z = Relu (x) }")
WITH_CLASS = load("g (float[n,3] x, int64[n] i) => (float[n,3] z, int64[n] c) { z = Relu (x) c = Identity (i) }")


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        (np.array([0, 3, 4]), "2 of 3 labels (3 is the first) cannot be right"),
        (np.array([[1], [-1]]), "1 of 2 labels (-1 is the first) cannot be right"),
        (np.array([1.0, 5.0]), "1 of 2 labels (5 is the first) cannot be right"),
        (np.array(["cat", "dog"]), "Labels are texts ('cat'), but output 'z' has 3 classes, numbered 0 to 2"),
    ],
)
def test_what_cannot_be_right_is_said(labels: Any, says: str) -> None:
    (remark,) = label_remarks(SCORES, labels)
    assert says in remark


@pytest.mark.parametrize("labels", [None, np.array([0, 1, 2]), np.array([0.5, 9.0]), np.full((2, 3), 9)])
def test_what_may_be_right_is_no_remark(labels: Any) -> None:
    assert label_remarks(SCORES, labels) == ()


@pytest.mark.parametrize("model", [ONE, OPEN, WITH_CLASS])
def test_a_model_that_may_answer_otherwise_gives_no_remark(model: Any) -> None:
    assert label_remarks(model, np.array([0, 1, 900])) == ()
