"""The memory of a profile: what the graph says, beside what the arena and the process held."""

from __future__ import annotations

from core.graph.read import read_layers
from core.measure.memory_use import measure_memory
from core.measure.profiled import Memory
from tests.intake.texts import load

TEXT = "g (float[n, 4] x) => (float[n, 4] y) { a = Neg (x)  y = Neg (a) }"


def test_the_document_says_what_lives_when_and_who_holds_the_peak() -> None:
    model = load(TEXT)
    shapes = {"x": (2, 4)}
    told = measure_memory(model, read_layers(model, shapes=shapes), shapes, process_peak_bytes=7).to_dict()
    assert (told["activation_peak_bytes"], told["activation_total_bytes"], told["planned_bytes"]) == (64, 96, 64)
    assert told["steps"] == [{"layer": "a", "bytes": 64}, {"layer": "y", "bytes": 64}]
    assert (told["peak_at"], [holder["tensor"] for holder in told["holders"]]) == ("a", ["x", "a"])
    assert (told["arena_peak_bytes"], told["process_peak_bytes"]) == (None, 7)


def test_a_candidate_is_told_by_its_own_layers() -> None:
    model, original = load(TEXT), load("g (float[n, 4] x) => (float[n, 4] y) { y = Neg (x) }")
    shapes = {"x": (2, 4)}
    told = measure_memory(model, read_layers(original, shapes=shapes), shapes, process_peak_bytes=None).to_dict()
    assert [step["layer"] for step in told["steps"]] == ["a", "y"]


def test_where_no_size_is_known_the_keys_stay() -> None:
    told = Memory(None, 5, None).to_dict()
    assert told["activation_peak_bytes"] is told["planned_bytes"] is told["peak_at"] is None
    assert (told["steps"], told["holders"], told["arena_peak_bytes"]) == ([], [], 5)
