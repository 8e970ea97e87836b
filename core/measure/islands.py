"""Islands: stretches of one precision between conversions, found in the graph that the runtime executes.

Conversions (QuantizeLinear, DequantizeLinear) cut the graph into stretches of kernels that pass tensors on without
converting. A stretch is an island where all that feeds it are conversions out of stretches of the other precision, and
all that read it conversions into such: what it saves, its borders may cost. A stretch at an input or output of its
graph is none. Where nothing lies between quantizing and dequantizing, a tensor makes a round trip for nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.measure.seen import FP32, INT8, SeenKernel


@dataclass(frozen=True, slots=True)
class Island:
    """One island: its precision, its layers, the time of its kernels and of the conversions at its borders, in ms.

    `own` says whether a conversion is a node of the file itself, which no recipe takes away.
    """

    precision: str
    layers: tuple[str, ...]
    ms: float
    conversions: int
    conversion_ms: float
    own: bool


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """Tensors that are quantized and dequantized again with nothing in between: how many, and the time in ms.

    `layers` are those that read the result. `own` as for an island.
    """

    layers: tuple[str, ...]
    count: int
    ms: float
    own: bool


def find_round_trip(kernels: Sequence[SeenKernel]) -> RoundTrip | None:
    """All of them as one; None where there is none."""
    writer = {key: kernel for kernel in kernels for key in kernel.writes}
    readers = _readers_of(kernels)
    backs = [
        kernel
        for kernel in kernels
        if kernel.op == "DequantizeLinear" and any(key in writer and writer[key].converts for key in kernel.reads)
    ]
    if not backs:
        return None
    forths = {id(writer[key]): writer[key] for back in backs for key in back.reads if key in writer}
    useless = [forth for forth in forths.values() if all(kernels[at].converts for at in _reading(forth, readers))]
    reading = [kernels[at] for back in backs for at in _reading(back, readers)]
    return RoundTrip(
        layers=tuple(dict.fromkeys(layer for kernel in reading for layer in kernel.layers if not kernel.converts)),
        count=len(backs),
        ms=sum(kernel.ms for kernel in (*backs, *useless)),
        own=any(kernel.layers for kernel in (*backs, *useless)),
    )


def _readers_of(kernels: Sequence[SeenKernel]) -> dict[str, list[int]]:
    readers: dict[str, list[int]] = defaultdict(list)
    for position, kernel in enumerate(kernels):
        for key in kernel.reads:
            readers[key].append(position)
    return readers


def _reading(kernel: SeenKernel, readers: Mapping[str, Sequence[int]]) -> list[int]:
    return [position for key in kernel.writes for position in readers.get(key, ())]


def find_islands(kernels: Sequence[SeenKernel]) -> tuple[Island, ...]:
    """All islands of int8 in fp32 and of fp32 in int8, those with the costliest borders first."""
    stretches = _Stretches(kernels)
    found = [island for root in stretches.members if (island := stretches.island(root)) is not None]
    return tuple(sorted(found, key=lambda island: -island.conversion_ms))


class _Stretches:
    """The kernels that do not convert, joined where one reads what another writes (positions in the sequence)."""

    def __init__(self, kernels: Sequence[SeenKernel]) -> None:
        self._kernels = kernels
        self._writer = {key: position for position, kernel in enumerate(kernels) for key in kernel.writes}
        self._readers = _readers_of(kernels)
        self._root = list(range(len(kernels)))
        for position, kernel in enumerate(kernels):
            for source in self._sources(position):
                if not kernel.converts and not kernels[source].converts:
                    self._root[self._find(position)] = self._find(source)
        self.members: dict[int, list[int]] = defaultdict(list)
        for position, kernel in enumerate(kernels):
            if not kernel.converts:
                self.members[self._find(position)].append(position)
        self._into, self._out_of = self._borders()

    def island(self, root: int) -> Island | None:
        """What a stretch is; None where it is no island."""
        precision = self._precision(root)
        into, out_of = self._into[root], self._out_of[root]
        inside = [self._kernels[position] for position in self.members[root]]
        if precision is None or not into or not out_of or any(kernel.ends for kernel in inside):
            return None
        other = FP32 if precision == INT8 else INT8
        beyond = [self._beyond(position, backwards=True) for position in into]
        beyond += [self._beyond(position, backwards=False) for position in out_of]
        if not all(roots and all(self._precision(far) == other for far in roots) for roots in beyond):
            return None
        borders = [self._kernels[position] for position in {*into, *out_of}]
        return Island(
            precision=precision,
            layers=tuple(dict.fromkeys(layer for kernel in inside for layer in kernel.layers)),
            ms=sum(kernel.ms for kernel in inside),
            conversions=len(borders),
            conversion_ms=sum(kernel.ms for kernel in borders),
            own=any(kernel.layers for kernel in borders),
        )

    def _borders(self) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
        """For each stretch the conversions that feed it, and those that read it."""
        into: dict[int, list[int]] = defaultdict(list)
        out_of: dict[int, list[int]] = defaultdict(list)
        for position, kernel in enumerate(self._kernels):
            for source in self._sources(position):
                if not kernel.converts and self._kernels[source].converts:
                    into[self._find(position)].append(source)
                if kernel.converts and not self._kernels[source].converts:
                    out_of[self._find(source)].append(position)
        return into, out_of

    def _beyond(self, position: int, *, backwards: bool) -> set[int]:
        """The stretches on the other side of a conversion; through a second one behind it where there is one."""
        reached, waiting = set[int](), [position]
        while waiting:
            here = waiting.pop()
            steps = self._sources(here) if backwards else _reading(self._kernels[here], self._readers)
            for step in steps:
                if self._kernels[step].converts:
                    waiting.append(step)
                else:
                    reached.add(self._find(step))
        return reached

    def _precision(self, root: int) -> str | None:
        """int8 or fp32 where all that computes in it is; None where nothing does, or where it is mixed."""
        found = {self._kernels[position].precision for position in self.members[root]} - {None}
        only = next(iter(found)) if len(found) == 1 else None
        return only if only in (INT8, FP32) else None

    def _sources(self, position: int) -> list[int]:
        return [self._writer[key] for key in self._kernels[position].reads if key in self._writer]

    def _find(self, position: int) -> int:
        while self._root[position] != position:
            self._root[position] = self._root[self._root[position]]
            position = self._root[position]
        return position
