from __future__ import annotations

import json

import numpy as np
import pytest

from core.measure.accuracy import Accuracy
from core.measure.compare import Comparison
from core.measure.fidelity import fidelity
from core.measure.kept import comparison_from_json, comparison_to_json
from core.measure.latency import PairedLatency
from core.runtime.machine import read_conditions
from core.runtime.settings import SessionSettings
from core.store.strict_json import to_json


def _comparison(*, noise: tuple[float, float] | None = (0.99, 1.01)) -> Comparison:
    chance = np.random.default_rng(0)
    reference = [{"y": chance.normal(size=(1, 4)), "z": chance.normal(size=(2, 2))} for _ in range(9)]
    got = [{name: array + 0.1 * chance.normal(size=array.shape) for name, array in row.items()} for row in reference]
    latency = PairedLatency(
        ratio=1.5, ci95=(1.4, 1.6), ratio_bound=1.41, before_ms=3.0, after_ms=2.0, after_bound_ms=2.1,
        before_p95_ms=3.3, after_p95_ms=2.2, batch=1, pairs=40, disturbed=2, samples=9, before_memory_bytes=10,
        after_memory_bytes=None, noise_ci95=noise, basis="processor",
    )  # fmt: skip
    accuracy = Accuracy("top-1", 0.9, 0.8, (-0.2, 0.0), 1, 0, 9)
    conditions = read_conditions(SessionSettings(), seed=5)
    measured = fidelity(reference, got, outputs={"y": 2.0, "z": 1.0})
    return Comparison(latency, 100, 50, measured, accuracy, None, "better", "It is faster.", conditions)


@pytest.mark.parametrize("noise", [(0.99, 1.01), None])
def test_a_comparison_comes_back_to_the_last_digit(noise: tuple[float, float] | None) -> None:
    compared = _comparison(noise=noise)
    again = comparison_from_json(json.loads(to_json(comparison_to_json(compared))))
    assert again.to_dict() == compared.to_dict()
    assert again.latency == compared.latency
    assert again.accuracy == compared.accuracy
    assert again.conditions == compared.conditions
    assert again.fidelity.sqnr_bound_db(seed=3) == compared.fidelity.sqnr_bound_db(seed=3)
    assert again.unchanged().to_dict() == compared.unchanged().to_dict()


@pytest.mark.parametrize("gone", ["latency", "outputs", "conditions"])
def test_what_is_no_comparison_any_more_is_told_from_one(gone: str) -> None:
    stored = comparison_to_json(_comparison())
    del stored[gone]
    with pytest.raises((KeyError, TypeError, ValueError)):
        comparison_from_json(stored)
