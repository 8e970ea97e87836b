from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from core.measure.events import read_runs


def _node(name: str, op_type: str, start: int, dur: int, **told: Any) -> dict[str, Any]:
    args = {"op_name": op_type, "activation_size": "10", "parameter_size": "20", "output_size": "5", **told}
    return {"cat": "Node", "name": f"{name}_kernel_time", "ts": start, "dur": dur, "args": args}


def _run(start: int, dur: int) -> dict[str, Any]:
    return {"cat": "Session", "name": "model_run", "ts": start, "dur": dur, "args": {}}


def _read(tmp_path: Path, events: list[dict[str, Any]]) -> Any:
    path = tmp_path / "profile.json"
    path.write_text(json.dumps(events))
    return read_runs(path)


def test_kernels_are_split_by_the_run_they_belong_to(tmp_path: Path) -> None:
    events = [_node("a", "Conv", 10, 5), _node("b", "Relu", 16, 2), _run(8, 12), _node("a", "Conv", 30, 6), _run(28, 9)]
    first, second = _read(tmp_path, events)
    assert [kernel.name for kernel in first.kernels] == ["a", "b"]
    assert [kernel.own_us for kernel in second.kernels] == [6]
    assert (first.wall_us, first.gap_us, second.gap_us) == (12, 5, 3)


def test_a_container_counts_only_what_its_body_does_not(tmp_path: Path) -> None:
    inner = [_node("l/x", "Add", 12, 3), _node("l/y", "Mul", 16, 4)]
    loop = [_node("loop", "Loop", 11, 12), *inner]
    (run,) = _read(tmp_path, [*inner, loop[0], _node("if", "If", 10, 20), _node("z", "Relu", 31, 2), _run(9, 30)])
    own = {kernel.name: kernel.own_us for kernel in run.kernels}
    assert own == {"if": 8, "loop": 5, "l/x": 3, "l/y": 4, "z": 2}
    assert {kernel.name: kernel.container for kernel in run.kernels} == {
        "if": None,
        "loop": "if",
        "l/x": "loop",
        "l/y": "loop",
        "z": None,
    }
    assert sum(own.values()) == 22


def test_bytes_and_shapes_are_those_the_runtime_states(tmp_path: Path) -> None:
    shapes = {"input_type_shape": [{"float": [1, 3]}, {"int64": []}], "output_type_shape": [{"float": [1, 4]}]}
    (run,) = _read(tmp_path, [_node("a", "MatMul", 10, 5, **shapes), _run(8, 9)])
    (kernel,) = run.kernels
    assert kernel.moved_bytes == 35
    assert kernel.input_shapes == ((1, 3), ())
    assert kernel.output_shapes == ((1, 4),)


def test_the_arena_is_the_most_it_held_in_a_run(tmp_path: Path) -> None:
    events = [
        _node("a", "Conv", 10, 5, mem_arena_held="100"),
        _node("b", "Conv", 16, 1, mem_arena_held="90"),
        _run(8, 12),
    ]
    assert _read(tmp_path, events)[0].arena_bytes == 100
    assert _read(tmp_path, [_node("a", "Conv", 10, 5), _run(8, 12)])[0].arena_bytes is None


def test_a_body_that_ends_in_the_microsecond_of_its_container_is_still_inside(tmp_path: Path) -> None:
    """The clock is cut to whole microseconds: the body's last kernel seems to start when the container is over."""
    events = [_node("inner", "Exp", 20, 0), _node("if", "If", 10, 10), _node("next", "Relu", 20, 2), _run(9, 20)]
    (run,) = _read(tmp_path, events)
    assert {kernel.name: kernel.container for kernel in run.kernels} == {"if": None, "inner": "if", "next": None}


def test_a_container_right_inside_another_is_not_taken_for_its_neighbour(tmp_path: Path) -> None:
    events = [_node("k", "Exp", 10, 3), _node("in", "If", 10, 5), _node("out", "If", 10, 5), _run(9, 20)]
    (run,) = _read(tmp_path, events)
    assert {kernel.name: kernel.container for kernel in run.kernels} == {"out": None, "in": "out", "k": "in"}
    assert {kernel.name: kernel.own_us for kernel in run.kernels} == {"out": 0, "in": 2, "k": 3}


def test_starts_count_from_the_start_of_the_run(tmp_path: Path) -> None:
    (run,) = _read(tmp_path, [_node("a", "Conv", 110, 5), _node("b", "Relu", 118, 2), _run(108, 20)])
    assert [(kernel.start_us, kernel.span_us) for kernel in run.kernels] == [(2, 5), (10, 2)]
