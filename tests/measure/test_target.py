from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core.errors import TargetError
from core.measure.accuracy import Accuracy
from core.measure.fidelity import Fidelity, fidelity
from core.measure.latency import PairedLatency
from core.measure.target import parse_target


def _accuracy(before: int, harmful: int, helpful: int, samples: int) -> Accuracy:
    after = before - harmful + helpful
    return Accuracy("top-1", before / samples, after / samples, (0, 0), harmful, helpful, samples)


def _agreement(disagreements: int, samples: int) -> Fidelity:
    return Fidelity(30.0, 1.0, 0.1, 0.0, 1 - disagreements / samples, samples, disagreements)


def latency(ratio: float = 2.0, **changes: Any) -> PairedLatency:
    figures: dict[str, Any] = {
        "ratio": ratio,
        "ci95": (ratio * 0.95, ratio * 1.05),
        "ratio_bound": ratio * 0.96,
        "before_ms": 4.0,
        "after_ms": 4.0 / ratio,
        "after_bound_ms": 4.1 / ratio,
        "before_p95_ms": 5.0,
        "after_p95_ms": 5.0 / ratio,
        "batch": 1,
        "pairs": 100,
        "disturbed": 3,
        "samples": 40,
        "before_memory_bytes": 100,
        "after_memory_bytes": 50,
    }
    return PairedLatency(**{**figures, **changes})


@pytest.mark.parametrize(
    ("text", "metric", "limit", "relative"),
    [
        ("accuracy>=99%", "accuracy", 0.99, True),
        ("accuracy >= 0.97", "accuracy", 0.97, False),
        ("Agreement≥99.5 %", "agreement", 0.995, False),
        ("sqnr>=30", "sqnr", 30, False),
        ("SQNR >= 30 dB", "sqnr", 30, False),
        ("latency<=5ms", "latency", 5, False),
        ("latency<=1.5s", "latency", 1500, False),
        ("size<=10MB", "size", 10e6, False),
        ("size<=1MiB", "size", 2**20, False),
        ("speedup>=2x", "speedup", 2, False),
        ("speed-up>=1.5", "speedup", 1.5, False),
    ],
)
def test_a_condition_is_read(text: str, metric: str, limit: float, relative: bool) -> None:
    (condition,) = parse_target(text).conditions
    assert (condition.metric, condition.relative) == (metric, relative)
    assert condition.limit == pytest.approx(limit)


def test_several_conditions_are_joined_by_commas() -> None:
    target = parse_target("accuracy>=99%, speedup>=2x,")
    assert target.metrics == ("accuracy", "speedup")
    assert target.text == "accuracy>=99%, speedup>=2x"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("fast", "cannot be read"),
        ("accuracy 99", "cannot be read"),
        ("acuracy>=99%", "Did you mean 'accuracy'"),
        ("accuracy<=99%", "must say accuracy>="),
        ("latency>=5ms", "must say latency<="),
        ("sqnr==30", "must say sqnr>="),
        ("size<=10", "unit"),
        ("latency<=5MB", "unit"),
        ("accuracy>=99", "more than everything"),
        ("agreement>=120%", "more than everything"),
    ],
)
def test_what_is_no_target_gives_one_line_and_a_hint(text: str, message: str) -> None:
    with pytest.raises(TargetError, match=message) as caught:
        parse_target(text)
    assert caught.value.hint
    assert "\n" not in caught.value.message


def test_relative_accuracy_is_measured_against_the_original() -> None:
    verdict = parse_target("accuracy>=99%").judge(accuracy=_accuracy(90, harmful=0, helpful=0, samples=100))
    told = verdict.to_dict()
    assert told["required"] == pytest.approx(0.891)
    assert told["value"] == pytest.approx(0.9)
    assert told["met"]


def test_below_300_samples_the_estimate_alone_decides() -> None:
    verdict = parse_target("accuracy>=99%").judge(accuracy=_accuracy(100, harmful=1, helpful=0, samples=100))
    assert verdict.met
    assert verdict.judgements[0].bound is not None
    assert verdict.judgements[0].bound < 0.99


def test_from_300_samples_on_the_bound_must_meet_it_too() -> None:
    target = parse_target("accuracy>=99%")
    assert target.judge(accuracy=_accuracy(300, harmful=0, helpful=0, samples=300)).met
    refused = target.judge(accuracy=_accuracy(300, harmful=1, helpful=0, samples=300))
    assert not refused.met
    assert refused.judgements[0].why is not None
    assert "bound" in refused.judgements[0].why


def test_agreement_is_bounded_by_the_flips_that_were_seen() -> None:
    target = parse_target("agreement>=99%")
    assert target.judge(fidelity=_agreement(0, 300)).met
    assert not target.judge(fidelity=_agreement(2, 300)).met
    assert target.judge(fidelity=_agreement(1, 200)).met


def test_an_sqnr_target_is_judged_with_a_bootstrap_bound() -> None:
    chance = np.random.default_rng(0)
    reference = [{"y": chance.normal(size=(1, 5)).astype(np.float32)} for _ in range(40)]
    got = [
        {"y": sample["y"] + np.float32(0.01) * chance.normal(size=(1, 5)).astype(np.float32)} for sample in reference
    ]
    (judged,) = parse_target("sqnr>=30").judge(fidelity=fidelity(reference, got)).judgements
    assert judged.met
    assert judged.value is not None
    assert judged.bound is not None
    assert judged.bound < judged.value


def test_outputs_that_are_not_finite_meet_no_sqnr() -> None:
    broken = fidelity([{"y": np.ones((1, 2, 2), np.float32)}], [{"y": np.full((1, 2, 2), np.nan, np.float32)}])
    (judged,) = parse_target("sqnr>=-5".replace("-", "0.")).judge(fidelity=broken).judgements
    assert not judged.met
    assert judged.value is None
    assert judged.why is not None
    assert "not finite" in judged.why


def test_latency_speed_and_size_are_judged_from_their_measurements() -> None:
    target = parse_target("latency<=2.5ms, speedup>=1.5x, size<=1kB")
    assert target.judge(latency=latency(2.0), size_bytes=1000).met
    assert target.judge(latency=latency(1.4), size_bytes=1001).broken == (
        "latency<=2.5ms",
        "speedup>=1.5x",
        "size<=1kB",
    )


def test_one_condition_that_is_not_met_breaks_the_whole_and_rules_the_document() -> None:
    verdict = parse_target("speedup>=1.5x, size<=1kB").judge(latency=latency(2.0), size_bytes=2000)
    told = verdict.to_dict()
    assert (told["text"], told["metric"], told["met"]) == ("speedup>=1.5x, size<=1kB", "size", False)
    assert [each["met"] for each in told["each"]] == [True, False]


def test_what_was_not_measured_is_not_met() -> None:
    verdict = parse_target("latency<=5ms").judge()
    assert not verdict.met
    assert verdict.judgements[0].why == "latency was not measured"


def test_an_accuracy_without_labels_is_refused_with_what_can_be_asked() -> None:
    with pytest.raises(TargetError, match="no labels") as caught:
        parse_target("accuracy>=99%").judge(accuracy=Accuracy(why="the data has no labels"))
    assert caught.value.hint is not None
    assert "agreement" in caught.value.hint


def test_an_agreement_of_outputs_that_choose_nothing_is_refused() -> None:
    with pytest.raises(TargetError, match="choose a class"):
        parse_target("agreement>=99%").judge(fidelity=Fidelity(30.0, 1.0, 0.1, None, None, 10))
