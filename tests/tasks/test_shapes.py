from __future__ import annotations

from typing import Any

import pytest

from core.intake.load import load_model
from core.runtime.trial import Trial, shapes_that_run
from core.store.workspace import Workspace
from core.tasks.params import Subject
from core.tasks.prepare import load, load_data
from core.tasks.shapes import tried_shapes
from tests.intake.texts import to_bytes

OPEN = to_bytes("g (float[n,3,h,w] x) => (float[n,3,h,w] y) { y = Relu (x) }")


def _subject(store: Workspace, data: bytes = OPEN, **more: Any) -> Subject:
    return Subject.read({"model": store.files.put(data), **more})


def test_a_trial_is_made_once_per_model_and_given_shapes(store: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []

    def noted(*arguments: Any, **options: Any) -> Trial:
        calls.append(arguments)
        return shapes_that_run(*arguments, **options)

    monkeypatch.setattr("core.tasks.shapes.shapes_that_run", noted)
    model = load_model(OPEN, name="m")
    given: list[dict[str, Any]] = [{}, {}, {"shapes": {"x": [1, 3, 8, 8]}}]
    trials = [tried_shapes(store, _subject(store, OPEN, **more), model) for more in given]
    assert len(calls) == 2
    assert trials[0] == trials[1]
    assert trials[2].shapes == {"x": (1, 3, 8, 8)}


def test_made_up_data_has_the_shapes_that_run_and_says_so(store: Workspace) -> None:
    subject = _subject(store)
    model, _ = load(store, subject)
    data = load_data(store, subject, model)
    assert data.synthetic
    assert data.shapes() == {"x": (1, 3, 224, 224)}
    assert data.remarks == tried_shapes(store, subject, model).remarks != ()
