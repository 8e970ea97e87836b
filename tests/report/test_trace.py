"""The trace is what the Trace Event Format says: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import pytest

from core.errors import RequestError
from core.report.trace import trace_events
from tests.report.profiles import ODD, kernel, profile

#: The fields that the format asks of each phase we use.
FIELDS: dict[str, dict[str, Any]] = {
    "X": {"name": str, "cat": str, "ts": (int, float), "dur": (int, float), "pid": int, "tid": int, "args": dict},
    "C": {"name": str, "ts": (int, float), "pid": int, "args": dict},
    "M": {"name": str, "pid": int, "args": dict},
}


def trace(document: dict[str, Any] | None = None) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(json.dumps(trace_events(document or profile(), name="m"), allow_nan=False))
    check(told)
    return told


def check(told: dict[str, Any]) -> None:
    """The written-down schema, and that the events of every track nest."""
    assert told["displayTimeUnit"] in ("ms", "ns")
    assert all(isinstance(value, str) for value in told["otherData"].values())
    tracks: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for event in told["traceEvents"]:
        for key, kind in FIELDS[event["ph"]].items():
            assert isinstance(event[key], kind), (key, event)
        assert event["name"].strip()
        if event["ph"] == "X":
            assert event["ts"] >= 0
            assert event["dur"] >= 0
            tracks[event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
        if event["ph"] == "C":
            assert all(isinstance(value, (int, float)) for value in event["args"].values())
    for spans in tracks.values():
        open_until: list[float] = []
        for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
            while open_until and open_until[-1] <= start + 1e-6:
                open_until.pop()
            assert not open_until or end <= open_until[-1] + 1e-6
            open_until.append(end)


def on(told: dict[str, Any], track: str) -> list[dict[str, Any]]:
    tid = next(e["tid"] for e in told["traceEvents"] if e["name"] == "thread_name" and e["args"]["name"] == track)
    return [event for event in told["traceEvents"] if event["ph"] == "X" and event["tid"] == tid]


def test_layers_kernels_and_containers_have_tracks_of_their_own() -> None:
    told = trace()
    assert [event["name"] for event in on(told, "Layers")] == ["reorder", ODD, "y", "loop/body/neg", "loop/body/neg"]
    assert [event["name"] for event in on(told, "Kernels")][:2] == ["ReorderInput", "FusedConv"]
    assert [event["name"] for event in on(told, "Containers")] == ["loop"]
    assert [event["dur"] for event in on(told, "Run")] == [2000.0]


def test_a_kernel_tells_its_layers_its_bucket_its_bytes_and_its_own_time() -> None:
    first, fused, *_ = on(trace(), "Kernels")
    assert first["args"] == {"kernel": "reorder", "layers": [], "bucket": "reorder", "own_ms": 0.1}
    assert fused["args"]["layers"] == ["conv", ODD]
    assert (fused["args"]["bytes"], fused["args"]["macs"]) == (8_192, 2_000_000)
    assert (fused["ts"], fused["dur"]) == (100.0, 500.0)
    loop = on(trace(), "Containers")[0]
    assert (loop["args"]["own_ms"], loop["dur"]) == (0.3, 1100.0)
    assert loop["args"]["about"]["loop"]["precision"] == "fp32"


def test_live_memory_is_a_counter() -> None:
    counted = [(event["ts"], event["args"]["bytes"]) for event in trace()["traceEvents"] if event["ph"] == "C"]
    assert counted == [(100.0, 2_048), (700.0, 512)]


def test_the_conditions_stand_beside() -> None:
    told = trace()
    assert told["otherData"]["latency without the profiler"] == "1.50 ms"
    assert told["otherData"]["threads"] == "1"


def test_ends_that_rounding_moved_past_the_container_are_cut() -> None:
    document = profile()
    document["timeline"]["kernels"] = [
        kernel("loop", 0.0, 1.0, ("loop",), op="Loop"),
        kernel("late", 0.5, 0.6, ("loop/body/neg",), container="loop"),
    ]
    assert [event["dur"] for event in on(trace(document), "Kernels")] == [1000.0, 500.0]


def test_the_check_finds_overlap_and_missing_fields() -> None:
    told = trace_events(profile(), name="m")
    told["traceEvents"].append(
        {"ph": "X", "name": "n", "cat": "c", "ts": 50.0, "dur": 100.0, "pid": 1, "tid": 3, "args": {}}
    )
    with pytest.raises(AssertionError):
        check(told)
    with pytest.raises(KeyError):
        check({**told, "traceEvents": [{"ph": "X", "name": "n"}]})


def test_a_profile_without_a_timeline_is_refused() -> None:
    with pytest.raises(RequestError, match="no timeline"):
        trace_events({"layers": []})
