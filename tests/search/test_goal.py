from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from core.errors import DataError, TargetError
from core.intake.dataset import Dataset
from core.intake.model import TensorSpec
from core.measure.noise import noise_of
from core.measure.outputs import Outputs
from core.measure.target import parse_target
from core.search.goal import Acceptance, check_target, default_target

CLASSES = 4


def _dataset(samples: int, *, labels: bool = True, splits: list[int] | None = None) -> Dataset:
    chosen = splits or [1] * samples
    return Dataset(
        name="made",
        sha256="0" * 64,
        synthetic=False,
        inputs={"x": np.zeros((samples, 1), np.float32)},
        labels=np.arange(samples) % CLASSES if labels else None,
        splits=np.array(chosen, np.int8),
    )


def _scores(answers: np.ndarray, noise: float = 0.0, seed: int = 0) -> list[Outputs]:
    chance = np.random.default_rng(seed)
    return [{"y": (np.eye(CLASSES)[a] * 4 + chance.normal(size=CLASSES) * noise)[None]} for a in answers]


def _accepts(target: str, flips: int, *, samples: int = 200, holdout: int = 100, noise: float = 0.0) -> bool:
    data = _dataset(samples)
    assert data.labels is not None
    got = data.labels.copy()
    got[:flips] = (got[:flips] + 1) % CLASSES
    reference, after = _scores(data.labels), _scores(got, noise)
    acceptance = Acceptance(parse_target(target), data, tuple(range(samples)), holdout, 0)
    return acceptance(reference, after, noise_of(reference, after))


@pytest.mark.parametrize("metric", ["accuracy>=99%", "agreement>=99%"])
def test_a_share_is_judged_by_its_estimate_where_the_holdout_is_small(metric: str) -> None:
    assert _accepts(metric, 2)
    assert not _accepts(metric, 3)


@pytest.mark.parametrize("metric", ["accuracy>=99%", "agreement>=99%"])
def test_a_large_holdout_has_a_bound_and_so_fewer_flips_are_allowed(metric: str) -> None:
    assert _accepts(metric, 0, holdout=400)
    assert not _accepts(metric, 2, holdout=400)


def test_sqnr_must_hold_with_its_lower_bound() -> None:
    data = _dataset(64)
    assert data.labels is not None
    reference, got = _scores(data.labels), _scores(data.labels, 0.1)
    noise = noise_of(reference, got)
    measured = -10 * np.log10(noise)

    def accepts(limit: float) -> bool:
        return Acceptance(parse_target(f"sqnr>={limit:.2f}"), data, tuple(range(64)), 64, 0)(reference, got, noise)

    assert accepts(measured - 1.5)
    assert not accepts(measured - 0.05), "the estimate meets it, the bound does not"


def test_every_condition_must_hold_and_those_measured_later_are_left_out() -> None:
    assert _accepts("accuracy>=99%, speedup>=50x, latency<=1us", 0)
    assert not _accepts("accuracy>=99%, sqnr>=190", 0, noise=0.1)


def test_a_mix_that_gives_nan_is_never_accepted() -> None:
    data = _dataset(8)
    acceptance = Acceptance(parse_target("sqnr>=1"), data, tuple(range(8)), 8, 0)
    assert not acceptance([], [], float("inf"))


def test_the_target_left_out_depends_on_labels() -> None:
    floats, integers = TensorSpec("y", "float32", ("n", 4)), TensorSpec("label", "int64", ("n",))
    assert default_target(_dataset(4), [floats]).text == "accuracy>=99%"
    assert default_target(_dataset(4, labels=False), [integers, floats]).text == "sqnr>=25"
    assert default_target(_dataset(4, labels=False), [integers]).text == "agreement>=99%"


def test_a_target_that_the_data_cannot_judge_is_refused_before_any_work() -> None:
    unlabelled = _dataset(4, labels=False, splits=[0, 1, 2, 2])
    with pytest.raises(TargetError, match="needs labels"):
        check_target(parse_target("accuracy>=99%"), unlabelled)
    check_target(parse_target("sqnr>=20"), unlabelled)
    with pytest.raises(DataError, match="no holdout sample"):
        check_target(parse_target("sqnr>=20"), dataclasses.replace(unlabelled, splits=np.array([0, 1, 1, 1], np.int8)))
