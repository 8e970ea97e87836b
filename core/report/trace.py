"""Trace: one profiled run as a file for ui.perfetto.dev and chrome://tracing.

The JSON Object Format of the Trace Event Format (complete events "X", counters "C", metadata "M"; times in µs). Three
tracks: what the kernels hold (layers, or the bucket), the kernels themselves, and the containers with what ran inside
them; and the live bytes of the activations as a counter, where the profile knows them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.errors import RequestError
from core.report import quantities
from core.runtime.tags import CONTAINERS

Document = Mapping[str, Any]
Event = dict[str, Any]

_PROCESS = 1
_RUN, _LAYERS, _KERNELS, _CONTAINERS = 1, 2, 3, 4
_TRACKS = {_RUN: "Run", _LAYERS: "Layers", _KERNELS: "Kernels", _CONTAINERS: "Containers"}
#: What a kernel's event tells of each of its layers, from the profile's rows.
_TOLD = ("op", "group", "macs", "bytes", "precision", "intensity", "limited_by", "executes_as", "runs")


def trace_events(document: Document, *, name: str = "") -> dict[str, Any]:
    """The trace of the run that the profile's `timeline` shows.

    Args:
        document: a `profile` document.
        name: of the model; names the process in the viewer.

    Raises:
        RequestError: the profile has no timeline.
    """
    timeline = document.get("timeline")
    if not timeline:
        raise RequestError("This profile holds no timeline of a run.", hint="Profile the model again.")
    rows = {row["id"]: row for row in document.get("layers") or ()}
    kernels = timeline["kernels"]
    events = [
        *_names(name),
        _complete(_RUN, "run", "run", (0.0, timeline["ms"]), {"kernels": len(kernels), "omitted": timeline["omitted"]}),
        *(event for kernel in _within(kernels) for event in _kernel(kernel, rows)),
        *_memory(kernels, document.get("memory") or {}),
    ]
    return {"traceEvents": events, "displayTimeUnit": "ms", "otherData": _about(document, name)}


def _names(name: str) -> Iterator[Event]:
    yield _metadata("process_name", 0, {"name": f"{name}: one run" if name else "One run"})
    for track, title in _TRACKS.items():
        yield _metadata("thread_name", track, {"name": title})
        yield _metadata("thread_sort_index", track, {"sort_index": track})


def _metadata(name: str, track: int, told: Mapping[str, Any]) -> Event:
    return {"ph": "M", "name": name, "pid": _PROCESS, "tid": track, "ts": 0, "args": dict(told)}


def _within(kernels: Sequence[Document]) -> Iterator[Document]:
    """The kernels with the ends of inner ones cut to those of the outer ones: rounding must not break the nesting."""
    ends: list[float] = []
    for kernel in sorted(kernels, key=lambda kernel: (kernel["start_ms"], -kernel["span_ms"])):
        start, end = kernel["start_ms"], kernel["start_ms"] + kernel["span_ms"]
        while ends and start >= ends[-1]:
            ends.pop()
        end = min([end, *ends[-1:]])
        ends.append(end)
        yield {**kernel, "span_ms": max(0.0, end - start)}


def _kernel(kernel: Document, rows: Mapping[str, Document]) -> Iterator[Event]:
    """A kernel's event, by its operator; and that of what it holds, or of a container that of its whole stay."""
    layers, bucket = kernel["layers"], kernel["bucket"]
    held = [rows[layer] for layer in layers if layer in rows]
    moved, macs = (_sum(row.get(key) for row in held) for key in ("bytes", "macs"))
    told = _known({
        "kernel": kernel["name"], "layers": layers, "bucket": bucket, "own_ms": kernel["ms"],
        "container": kernel["container"], "bytes": moved, "macs": macs,
    })  # fmt: skip
    when = (kernel["start_ms"], kernel["span_ms"])
    yield _complete(_KERNELS, "kernel", kernel["op"], when, told)
    holder = str(max(held, key=lambda row: row.get("ms") or 0.0)["id"]) if held else str(bucket or kernel["op"])
    about = {row["id"]: _known({key: row.get(key) for key in _TOLD}) for row in held}
    if kernel["op"] in CONTAINERS:
        yield _complete(_CONTAINERS, "container", holder, when, {**told, "about": about})
    else:
        kind = "layer" if held else "bucket"
        yield _complete(_LAYERS, kind, holder, when, {**told, "op": kernel["op"], "about": about})


def _complete(track: int, kind: str, name: str, when: tuple[float, float], told: Mapping[str, Any]) -> Event:
    """An event of a start and a length in ms. Both ends are whole nanoseconds: rounding cannot make events overlap."""
    start, end = round(when[0] * 1e6), round(sum(when) * 1e6)
    where = {"pid": _PROCESS, "tid": track}
    return {"ph": "X", "name": name, "cat": kind, "ts": start / 1e3, "dur": (end - start) / 1e3, **where, "args": told}


def _memory(kernels: Sequence[Document], memory: Document) -> Iterator[Event]:
    """Live bytes from the start of each kernel on: the most while any of its layers runs."""
    live = {step["layer"]: step["bytes"] for step in memory.get("steps") or ()}
    for kernel in kernels:
        held = [live[layer] for layer in kernel["layers"] if layer in live]
        if held:
            counted = {"name": "Live activations", "args": {"bytes": max(held)}}
            yield {"ph": "C", "pid": _PROCESS, "tid": 0, "ts": round(kernel["start_ms"] * 1e6) / 1e3, **counted}


def _about(document: Document, name: str) -> dict[str, str]:
    """What the figures hold for, as text: viewers show nothing else."""
    conditions = document.get("conditions") or {}
    wall = (document.get("wall_ms") or {}).get("median")
    timeline = document["timeline"]
    told = {
        "model": name,
        "mixdesk": document.get("mixdesk"),
        "latency without the profiler": quantities.time_ms(wall),
        "kernels left out": timeline["omitted"],
        **{key: conditions.get(key) for key in ("cpu", "onnxruntime", "provider", "threads", "batch", "time")},
    }
    return {key: str(value) for key, value in told.items() if value not in (None, "")}


def _sum(values: Iterator[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _known(told: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in told.items() if value is not None}
