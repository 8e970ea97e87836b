"""Kernels: those of one run as spans in lanes, the many that are too short to be seen put together.

A kernel that runs inside the body of a container (`If`, `Loop`, `Scan`) lies one lane below it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

#: Of a window no more than this many parts are told apart; shorter kernels within one part are drawn as one span.
PARTS = 1200

Window = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a lane: one kernel, or `count` short ones of a kind; times in ms from the start of the run.

    `name`, `op` and `layers` are those of the longest. `own_ms` is their own time, without what ran inside them.
    `bucket` says what it is where it belongs to no layer. `low` and `high` (0..1) are the part of the lane's height: of
    short ones together as much as they take of the stretch.
    """

    start_ms: float
    end_ms: float
    own_ms: float
    lane: int
    name: str
    op: str
    layers: tuple[str, ...]
    bucket: str | None
    count: int = 1
    longest_ms: float = 0.0
    low: float = 0.0
    high: float = 1.0


def spans(timeline: Mapping[str, Any], window: Window | None = None, *, parts: int = PARTS) -> list[Span]:
    """What of a `timeline` falls into the window, lane by lane in order of time.

    Args:
        timeline: the `timeline` object of a `profile` document.
        window: start and end in ms; None for the whole run.
        parts: how many parts of the window can be told apart.
    """
    low, high = window or (0.0, whole_ms(timeline))
    inside = [span for span in placed(timeline) if span.end_ms >= low and span.start_ms <= high]
    return _together(sorted(inside, key=lambda span: (span.lane, span.start_ms)), (high - low) / parts)


def placed(timeline: Mapping[str, Any]) -> list[Span]:
    """Every kernel, in its lane."""
    kernels = timeline.get("kernels") or ()
    depth = _depths(kernels)
    return [_span(kernel, depth) for kernel in kernels]


def whole_ms(timeline: Mapping[str, Any]) -> float:
    """How long the run took, at least until its last known kernel ended."""
    ends = (float(kernel["start_ms"]) + _length(kernel) for kernel in timeline.get("kernels") or ())
    return max([float(timeline.get("ms") or 0.0), *ends])


def around(timeline: Mapping[str, Any], layer: str) -> Window | None:
    """A window in which the longest kernel of a layer takes a tenth; None where the layer ran no kernel."""
    found = [span for span in placed(timeline) if layer in span.layers]
    if not found:
        return None
    start, end = max(((span.start_ms, span.end_ms) for span in found), key=lambda window: window[1] - window[0])
    half = max((end - start) * 5, whole_ms(timeline) / 1e4)
    middle = (start + end) / 2
    return max(0.0, middle - half), min(whole_ms(timeline), middle + half)


def _depths(kernels: Sequence[Mapping[str, Any]]) -> dict[str | None, int]:
    """Container's layer id -> the lane of what runs inside it; None is the graph itself."""
    parent_of = {layer: kernel.get("container") for kernel in kernels for layer in kernel.get("layers") or ()}
    found: dict[str | None, int] = {None: 0}
    for container in {kernel.get("container") for kernel in kernels} - {None}:
        steps, at, seen = 0, container, set[str | None]()
        while at is not None and at not in seen:
            seen.add(at)
            steps, at = steps + 1, parent_of.get(at)
        found[container] = steps
    return found


def _length(kernel: Mapping[str, Any]) -> float:
    """From its start to its end, with what ran inside."""
    return max(float(kernel.get("span_ms") or 0.0), float(kernel.get("ms") or 0.0))


def _span(kernel: Mapping[str, Any], depth: Mapping[str | None, int]) -> Span:
    start, own = float(kernel["start_ms"]), float(kernel.get("ms") or 0.0)
    return Span(
        start_ms=start,
        end_ms=start + _length(kernel),
        own_ms=own,
        lane=depth[kernel.get("container")],
        name=str(kernel.get("name") or ""),
        op=str(kernel.get("op") or ""),
        layers=tuple(kernel.get("layers") or ()),
        bucket=kernel.get("bucket"),
        longest_ms=own,
    )


def _together(ordered: Sequence[Span], least_ms: float) -> list[Span]:
    """Puts together what lies within one part of the window."""
    found: list[Span] = []
    part: list[Span] = []
    for span in ordered:
        if part and (span.lane != part[0].lane or span.end_ms - part[0].start_ms > least_ms):
            found += _joined(part)
            part = []
        part.append(span)
    return found + _joined(part)


def _joined(part: Sequence[Span]) -> list[Span]:
    """One span per kind over the whole part, as high as its own time is long: what stays free is between kernels."""
    if len(part) < 2:
        return list(part)
    start, end = part[0].start_ms, max(span.end_ms for span in part)
    kinds: dict[str | None, list[Span]] = {}
    for span in part:
        kinds.setdefault(span.bucket, []).append(span)
    found, low = [], 0.0
    for spans_of_kind in kinds.values():
        own = sum(span.own_ms for span in spans_of_kind)
        high = min(1.0, low + own / (end - start)) if end > start else 1.0
        longest = max(spans_of_kind, key=lambda span: span.own_ms)
        found.append(
            replace(
                longest,
                start_ms=start,
                end_ms=end,
                own_ms=own,
                count=len(spans_of_kind),
                longest_ms=longest.own_ms,
                low=low,
                high=high,
            )
        )
        low = high
    return found
