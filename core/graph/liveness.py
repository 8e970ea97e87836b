"""Liveness: how much memory activations need while each layer runs, and who holds it at the worst moment.

Layers run in graph order; the model's inputs count, weights do not. What shares memory counts once
(`core/graph/buffers.py`). While a layer of a body runs, what lives around its containers counts as well. The peak is
the least that any plan of this order needs. The runtime may need more (rounding, fragmentation, buffers of its kernels,
other layouts) or less (a fused kernel holds nothing of what lies between its layers).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from core.graph.buffers import Body, Buffer, read_buffers
from core.graph.layer import LayerTable
from core.graph.offsets import planned_bytes
from core.intake.model import Model


@dataclass(frozen=True, slots=True)
class Holder:
    """A buffer in use at the peak: its first activation, who wrote that (None: an input), from and to which layer."""

    layer: str | None
    tensor: str
    size_bytes: int
    first: str
    last: str

    def to_dict(self) -> dict[str, Any]:
        """As in the `profile` document."""
        used = {"from": self.first, "to": self.last}
        return {"layer": self.layer, "tensor": self.tensor, "bytes": self.size_bytes, **used}


@dataclass(frozen=True, slots=True)
class Liveness:
    """Memory of activations in bytes.

    `total_bytes`: each activation in memory of its own. `planned_bytes`: with fixed places that are used again.
    `steps`: (layer id, bytes in use while it runs) in graph order. `peak_at`: the first layer with the most; None
    without layers. `holders`: what is in use then, the largest first.
    """

    total_bytes: int
    planned_bytes: int
    steps: tuple[tuple[str, int], ...]
    peak_at: str | None
    holders: tuple[Holder, ...]

    @property
    def peak_bytes(self) -> int:
        """The most that is in use at one step."""
        return max((size for _, size in self.steps), default=0)

    def to_dict(self) -> dict[str, Any]:
        """The keys of the `profile` document's `memory` that come from the graph."""
        return {
            "activation_peak_bytes": self.peak_bytes,
            "activation_total_bytes": self.total_bytes,
            "planned_bytes": self.planned_bytes,
            "peak_at": self.peak_at,
            "steps": [{"layer": layer, "bytes": size} for layer, size in self.steps],
            "holders": [holder.to_dict() for holder in self.holders],
        }


def nothing_known() -> dict[str, Any]:
    """The keys of `Liveness.to_dict` where no size is known."""
    figures = dict.fromkeys(("activation_peak_bytes", "activation_total_bytes", "planned_bytes", "peak_at"))
    return {**figures, "steps": [], "holders": []}


def read_liveness(model: Model, table: LayerTable) -> Liveness | None:
    """What the activations of one run need. Unknown sizes count nothing; None where all are unknown."""
    if _all_unknown(table):
        return None
    body = read_buffers(model, table)
    frames = list(_frames(body, 0, ()))
    steps = tuple((frame.layer, frame.size_bytes) for frame in frames)
    worst = max(frames, key=lambda frame: frame.size_bytes, default=None)
    return Liveness(
        total_bytes=_total(body),
        planned_bytes=planned_bytes(body),
        steps=steps,
        peak_at=None if worst is None else worst.layer,
        holders=() if worst is None else _holders(worst),
    )


def activation_peak_bytes(model: Model, table: LayerTable) -> int | None:
    """The most that is in use at one step. Unknown sizes count nothing; None where all are unknown."""
    if _all_unknown(table):
        return None
    frames = _frames(read_buffers(model, table), 0, ())
    return max((frame.size_bytes for frame in frames), default=0)


def _all_unknown(table: LayerTable) -> bool:
    return len(table) > 0 and all(layer.activation_bytes is None for layer in table)


@dataclass(frozen=True, slots=True)
class _Frame:
    """One layer while it runs: bytes in use, and for its body and those around it the step that is running."""

    layer: str
    size_bytes: int
    running: tuple[tuple[Body, int], ...]


def _frames(body: Body, around: int, outer: tuple[tuple[Body, int], ...]) -> Iterator[_Frame]:
    """All layers in graph order; those of a body come right after their container."""
    for step, (layer, live) in enumerate(zip(body.layers, _live(body), strict=True)):
        running = (*outer, (body, step))
        yield _Frame(layer.id, around + live, running)
        for nested in body.inside.get(step, ()):
            yield from _frames(nested, around + live, running)


def _live(body: Body) -> list[int]:
    """Bytes of a body's own buffers in use at each of its steps."""
    changes = [0] * (len(body.layers) + 2)
    for buffer in body.buffers:
        changes[buffer.first] += buffer.size_bytes
        changes[buffer.last + 1] -= buffer.size_bytes
    return list(accumulate(changes))[: len(body.layers)]


def _total(body: Body) -> int:
    return body.written_bytes + sum(_total(nested) for inside in body.inside.values() for nested in inside)


def _holders(frame: _Frame) -> tuple[Holder, ...]:
    found = [
        _holder(buffer, body)
        for body, step in frame.running
        for buffer in body.buffers
        if buffer.size_bytes and buffer.first <= step <= buffer.last
    ]
    return tuple(sorted(found, key=lambda holder: -holder.size_bytes))


def _holder(buffer: Buffer, body: Body) -> Holder:
    last = min(buffer.last, len(body.layers) - 1)
    return Holder(buffer.writer, buffer.tensor, buffer.size_bytes, body.layers[buffer.first].id, body.layers[last].id)
