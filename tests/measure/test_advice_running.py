from __future__ import annotations

from core.measure.seen import Known, SweptTime
from tests.measure.sights import only, rules

ONE, TWO = SweptTime(1, 1, 8.0, (7.9, 8.1), 125.0), SweptTime(2, 1, 11.0, (10.5, 11.5), 91.0)


def test_a_first_run_that_takes_far_longer_is_told() -> None:
    found = only(first_run_ms=105.0)
    assert found.rule == "first run stalls"
    assert "The first run took 105 ms, a later one takes 10.5 ms (median): 10.0 times as long." in found.evidence
    assert rules(first_run_ms=40.0) == []
    assert rules(wall_ms=0.5, first_run_ms=6.0) == []
    assert rules(first_run_ms=None) == []


def test_a_model_that_takes_long_to_open_is_told() -> None:
    assert only(load_ms=2100.0).evidence == "Opening the model took 2.1e+03 ms: as long as 200 runs."
    assert rules(load_ms=900.0) == []
    assert rules(wall_ms=1.0, load_ms=400.0) == []


def test_more_threads_than_processors_are_told_and_taken_back() -> None:
    found = only(threads=4, cores=2)
    assert found.rule == "more threads than processors"
    assert found.evidence == "The model ran with 4 threads; this process may use 2 processors."
    assert found.change is not None
    assert dict(found.change.session) == {"threads": 2}
    assert rules(threads=2, cores=2) == []


def test_fewer_threads_that_a_sweep_measured_faster_are_offered() -> None:
    found = only(threads=2, cores=2, known=Known(swept=(ONE, TWO)))
    assert found.rule == "slower with more threads"
    assert "11 ms with 2 threads and 8 ms with 1 thread (means, batch 1)" in found.evidence
    assert found.change is not None
    assert dict(found.change.session) == {"threads": 1}


def test_intervals_that_overlap_say_nothing_and_neither_does_another_batch() -> None:
    near = SweptTime(1, 1, 10.0, (9.0, 11.0), 100.0)
    assert rules(threads=2, cores=2, known=Known(swept=(near, TWO))) == []
    assert rules(threads=2, cores=2, batch=4, known=Known(swept=(ONE, TWO))) == []
    assert rules(threads=1, cores=2, known=Known(swept=(ONE, TWO))) == []
