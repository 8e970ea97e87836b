from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from core.errors import TargetError
from core.intake.feeds import Split
from core.measure import compare
from core.measure.accuracy import Accuracy
from core.measure.compare import Comparison, compare_models, decide
from core.measure.fidelity import Fidelity
from core.runtime.settings import SessionSettings
from tests.measure.data import classifier, samples
from tests.measure.test_target import latency

SETTINGS = SessionSettings()
GOOD = Fidelity(40.0, 1.0, 0.0, 0.0, 1.0, 100, 0)
UNLABELLED = Accuracy(why="the data has no labels")


@pytest.fixture
def timed(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Replaces the timing by a made-up ratio."""

    def replace(ratio: float) -> None:
        monkeypatch.setattr(compare, "measure_pair", lambda *_, **__: latency(ratio, noise_ci95=(0.99, 1.01)))

    replace(2.0)
    return replace


def _compare(candidate: bytes, **options: Any) -> Comparison:
    given: dict[str, Any] = {"settings": SETTINGS, **options}
    return compare_models(classifier(), candidate, given.pop("data", samples(60)), **given)


@pytest.mark.parametrize(
    ("ratio", "ci95", "noise", "expected"),
    [
        (1.5, (1.4, 1.6), (0.98, 1.02), "better"),
        (0.7, (0.6, 0.8), (0.98, 1.02), "worse"),
        (1.01, (0.99, 1.03), (0.98, 1.02), "no difference seen"),
        (1.01, (1.005, 1.015), (0.98, 1.02), "no difference seen"),
        (1.1, (0.8, 1.4), (0.98, 1.02), "too noisy"),
        (1.1, (1.05, 1.15), (0.7, 1.02), "too noisy"),
        (3.0, (2.5, 3.5), (0.8, 1.2), "better"),
        (1.3, (1.1, 1.5), (0.8, 1.2), "too noisy"),
        (14.0, (12.0, 17.0), (1.02, 1.53), "too noisy"),
    ],
)
def test_the_verdict_follows_the_interval_and_the_noise(
    ratio: float, ci95: tuple[float, float], noise: tuple[float, float], expected: str
) -> None:
    assert decide(latency(ratio, ci95=ci95, noise_ci95=noise), GOOD, UNLABELLED)[0] == expected


def test_a_model_is_never_better_than_itself(timed: Callable[[float], None]) -> None:
    timed(1.2)
    same = _compare(classifier())
    assert (same.verdict, same.latency.ratio) == ("no difference seen", 1.2)
    assert same.why.startswith("Both are the same model; that one of them ran 1.20 times as fast")
    assert _compare(classifier(noise=1e-6)).verdict == "better"


def test_processor_time_is_named_in_the_reason() -> None:
    assert "in processor time" in decide(latency(3.0, basis="processor"), GOOD, UNLABELLED)[1]
    assert "processor" not in decide(latency(3.0), GOOD, UNLABELLED)[1]


def test_disturbed_runs_of_several_threads_are_no_verdict() -> None:
    assert decide(latency(3.0, disturbed_kept=True), GOOD, UNLABELLED)[0] == "too noisy"


def test_what_lost_accuracy_is_worse_however_fast() -> None:
    fallen = Accuracy("top-1", 0.98, 0.90, (-0.11, -0.05), 9, 1, 100)
    verdict, why = decide(latency(3.0), GOOD, fallen)
    assert verdict == "worse"
    assert "98.0 % to 90.0 %" in why
    kept = Accuracy("top-1", 0.98, 0.97, (-0.04, 0.02), 2, 1, 100)
    assert decide(latency(3.0), GOOD, kept)[0] == "better"


def test_without_labels_answers_or_noise_stand_in_for_accuracy() -> None:
    other = Fidelity(15.0, 0.9, 1.0, 0.3, 0.6, 100, 40)
    assert decide(latency(3.0), other, UNLABELLED)[0] == "worse"
    noisy = Fidelity(5.0, 0.9, 1.0, None, None, 100)
    assert decide(latency(3.0), noisy, UNLABELLED)[0] == "worse"


def test_outputs_that_are_not_finite_are_worse() -> None:
    broken = Fidelity(None, None, None, None, None, 10, broken=True, why="output 'y' has values that are not finite")
    verdict, why = decide(latency(3.0), broken, UNLABELLED)
    assert verdict == "worse"
    assert "not finite" in why


def test_a_comparison_measures_answers_on_holdout(timed: Callable[[float], None]) -> None:
    told = _compare(classifier(noise=0.05), gate="accuracy>=90%, speedup>=1.5x").to_dict()
    assert told["accuracy"]["before"] == 1
    assert told["accuracy"]["samples"] == 30
    assert 10 < told["fidelity"]["sqnr_db"] < 60
    assert told["ratio"]["latency"] == {"value": 2.0, "ci95": [1.9, 2.1]}
    assert told["ratio"]["throughput"] == pytest.approx(2)
    assert told["ratio"]["size"] == pytest.approx(1, abs=0.05)
    assert told["verdict"] == "better"
    assert told["gate"]["met"]
    assert told["noise"] == {"aa_ci95": [0.99, 1.01], "smallest_effect": pytest.approx(0.01)}


def test_a_gate_that_is_not_met_names_what_broke(timed: Callable[[float], None]) -> None:
    timed(1.1)
    gate = _compare(classifier(), gate="agreement>=99%, speedup>=1.5x").to_dict()["gate"]
    assert not gate["met"]
    assert gate["broken"] == ["speedup>=1.5x"]


def test_a_gate_that_cannot_be_answered_is_refused_before_the_timing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "measure_pair", lambda *_, **__: pytest.fail("it was timed"))
    with pytest.raises(TargetError, match="no labels"):
        _compare(classifier(), gate="accuracy>=99%", data=samples(20, labels=False))


def test_an_empty_split_falls_back_on_all_samples(timed: Callable[[float], None]) -> None:
    found = _compare(classifier(), split=Split.CALIBRATION)
    assert found.fidelity.samples == 60


def test_unchanged_is_the_original_in_the_candidates_place(timed: Callable[[float], None]) -> None:
    told = _compare(classifier(noise=0.5)).unchanged().to_dict()
    assert told["ratio"] == {
        "latency": {"value": 1.0, "ci95": [1.0, 1.0]},
        "p95": 1.0,
        "throughput": 1.0,
        "size": 1.0,
        "memory": 1.0,
    }
    assert told["fidelity"]["sqnr_db"] == 200
    assert told["accuracy"]["after"] == told["accuracy"]["before"]
    assert told["accuracy"]["ci95_change"] == [0, 0]


@pytest.mark.xdist_group("timing")
def test_two_models_are_compared_for_real() -> None:
    found = _compare(classifier(noise=0.01), budget_s=0.2)
    assert found.latency.pairs >= 5
    assert found.latency.noise_ci95 is not None
    assert found.verdict in ("better", "no difference seen", "worse", "too noisy")
    assert found.why
