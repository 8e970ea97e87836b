from __future__ import annotations

import itertools
from typing import Any

import pytest

from core.errors import DataError
from core.intake.load import load_model
from core.intake.proposals import other_shapes, propose_shapes
from core.runtime.settings import SessionSettings
from core.runtime.trial import Trial, shapes_that_run
from tests.intake.texts import load

_WEIGHTS = ", ".join(["0"] * (3 * 32 * 100))
#: Runs at 32 x 100 only: what is flattened must fit the weights.
LINES = load(
    f"g (float[n,3,h,w] x) => (float[n,1] y) <float[9600,1] k = {{{_WEIGHTS}}}> {{ f = Flatten (x) y = MatMul (f, k) }}"
)
NEVER = load("g (float[n,m] x) => (float[n,m] y) <int64[1] k = {-7}> { r = Reshape (x, k) y = Reshape (r, k) }")


def run(model: Any, **given: tuple[int, ...]) -> Trial:
    return shapes_that_run(model, SessionSettings(), given)


def test_where_the_usual_size_does_not_run_another_is_found_and_both_are_told() -> None:
    trial = run(LINES)
    assert trial.shapes == {"x": (1, 3, 32, 100)}
    assert trial.remarks[0] == "Sizes that the model leaves open were assumed: 'x' [1, 3, 32, 100] for [n, 3, h, w]."
    assert trial.remarks[1].startswith("The usual sizes 'x' [1, 3, 224, 224] do not run (")


def test_what_runs_at_once_stays_and_what_is_fixed_is_not_tried() -> None:
    model = load("g (float[n,3,h,w] x) => (float[n,3,h,w] y) { y = Relu (x) }")
    assert run(model).shapes == {"x": (1, 3, 224, 224)}
    assert len(run(model).remarks) == 1
    assert run(model, x=(2, 3, 8, 8)) == Trial({"x": (2, 3, 8, 8)})
    assert run(load("g (float[2,3] x) => (float[2,3] y) { y = Relu (x) }")) == Trial({"x": (2, 3)})


def test_where_nothing_runs_the_first_proposal_stands() -> None:
    trial = run(NEVER)
    assert trial.shapes == propose_shapes(NEVER)
    assert len(trial.remarks) == 1


def test_a_trial_ends_in_time() -> None:
    clock = itertools.count(step=30.0)
    assert shapes_that_run(LINES, SessionSettings(), {}, clock=lambda: float(next(clock))).shapes == {
        "x": (1, 3, 224, 224)
    }


def test_a_given_shape_must_fit() -> None:
    with pytest.raises(DataError):
        run(LINES, x=(1, 4, 8, 8))


def test_other_proposals_differ_and_keep_what_is_given_or_fixed() -> None:
    model = load("g (float[n,3,48,w] x, int64[n,s] ids) => (float[n,3,48,w] y) { y = Relu (x) }")
    others = list(other_shapes(model, {"ids": (1, 5)}))
    assert len({str(shapes) for shapes in others}) == len(others) > 3
    assert all(shapes["ids"] == (1, 5) and shapes["x"][:3] == (1, 3, 48) for shapes in others)
    assert propose_shapes(model, {"ids": (1, 5)}) not in others


@pytest.mark.zoo
def test_the_recogniser_of_the_zoo_runs_at_its_proposal(zoo: Any) -> None:
    model = load_model(zoo / "models" / "ppocrv4_rec.onnx")
    assert run(model).shapes == {"x": (1, 3, 48, 320)}
