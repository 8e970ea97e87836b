from __future__ import annotations

import math

from core.errors import RunError
from core.progress import Silent
from core.sensitivity.solo import solo_scores
from tests.tasks.recording import Recording

NOISE = {"a": 0.1, "b": 0.001}


def _noise_of(mix: frozenset[str]) -> float:
    (group,) = mix
    if group == "c":
        raise RunError("The runtime refuses it.")
    return NOISE[group]


def test_every_group_is_scored_alone_and_told_at_once() -> None:
    progress = Recording()
    scores = solo_scores(["a", "b"], _noise_of, progress=progress)
    assert {group: round(score.sqnr_db) for group, score in scores.items()} == {"a": 10, "b": 30}
    assert [value["group"] for kind, value in progress.partials if kind == "solo"] == ["a", "b"]


def test_a_group_that_the_runtime_refuses_is_infinitely_noisy() -> None:
    assert solo_scores(["c"], _noise_of, progress=Silent())["c"].noise == math.inf


def test_what_the_time_does_not_allow_is_left_out() -> None:
    answers = iter([False, True])
    scores = solo_scores(["a", "b"], _noise_of, progress=Silent(), time_is_up=lambda: next(answers))
    assert list(scores) == ["a"]
