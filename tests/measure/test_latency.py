from __future__ import annotations

import pytest

from tests.measure.test_target import latency


def test_ratios_are_above_one_where_the_candidate_is_better() -> None:
    found = latency(2.0)
    assert found.p95_ratio == 2
    assert found.memory_ratio == 2
    assert found.after_throughput / found.before_throughput == pytest.approx(2)


def test_throughput_counts_samples_not_runs() -> None:
    assert latency(batch=8).before_throughput == pytest.approx(8 * 1e3 / 4.0)


def test_the_smallest_effect_is_the_larger_side_of_the_noise() -> None:
    assert latency(noise_ci95=(0.97, 1.01)).smallest_effect == pytest.approx(0.03)
    assert latency().smallest_effect is None


def test_unchanged_is_one_by_definition() -> None:
    same = latency(3.0).unchanged()
    assert (same.ratio, same.ci95, same.ratio_bound) == (1.0, (1.0, 1.0), 1.0)
    assert same.after_ms == same.before_ms
    assert same.memory_ratio == 1
    assert same.p95_ratio == 1


def test_the_document_says_how_it_was_measured() -> None:
    told = latency(2.0).to_dict()
    assert told["ci95"] == [1.9, 2.1]
    assert "child processes" in told["how"]
