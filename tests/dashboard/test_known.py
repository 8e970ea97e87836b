"""What a running job knows is told from what it published."""

from __future__ import annotations

from core.store.rows import Partial
from dashboard.known import known_so_far


def test_nothing_published_says_nothing() -> None:
    assert known_so_far(()) == ""


def test_solo_scores_name_the_most_sensitive_group() -> None:
    pieces = [
        Partial(1, "solo", {"group": "stem", "sqnr_db": 15.6}),
        Partial(2, "solo", {"group": "head", "sqnr_db": 40.0}),
        Partial(3, "solo", {"group": "odd", "sqnr_db": None}),
    ]
    assert known_so_far(pieces) == "3 groups lowered one at a time; most sensitive: stem (15.6 dB)"


def test_mixes_tell_the_best_that_keeps_the_target() -> None:
    pieces = [
        Partial(1, "solo", {"group": "stem", "sqnr_db": 15.6}),
        Partial(2, "mix", {"groups": 20, "sqnr_db": 12.0, "latency_ms": 1.0, "accepted": False}),
        Partial(3, "mix", {"groups": 12, "sqnr_db": 31.4, "latency_ms": 1.239, "accepted": True}),
    ]
    assert known_so_far(pieces) == "2 mixes tried; best that keeps the target: 12 groups in int8, 31.4 dB, 1.24 ms"
    assert known_so_far(pieces[:2]) == "1 mix tried; none keeps the target yet"


def test_other_pieces_are_counted() -> None:
    assert known_so_far([Partial(1, "row", {})]) == "1 result"


def test_a_profile_tells_what_it_knows_as_it_comes() -> None:
    pieces = [
        Partial(1, "profile", {"layers": [{"id": "a"}, {"id": "b"}]}),
        Partial(2, "profile", {"memory": {"process_peak_bytes": 50_000_000}}),
        Partial(3, "profile", {"cold": {"load_ms": 9.0, "first_run_ms": 12.0}}),
        Partial(4, "profile", {"wall_ms": {"median": 2.5}, "runs": 7}),
    ]
    assert known_so_far(pieces[:1]) == "2 layers"
    assert known_so_far(pieces[:3]) == "2 layers; first run 12.0 ms; memory 50.0 MB"
    assert known_so_far(pieces) == "2 layers; latency 2.50 ms, median of 7 runs so far; memory 50.0 MB"
