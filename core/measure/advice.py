"""Advice: what a profile shows that somebody can do something about: evidence, consequence, remedy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

REORDER_SHARE = 0.10
CONVERSION_SHARE = 0.10
DOMINANT_SHARE = 0.40
OVERHEAD_SHARE = 0.25
UNATTRIBUTED_SHARE = 0.02
DISTURBED_SHARE = 0.75

#: Rules about single layers say nothing of a model with fewer.
_FEWEST_LAYERS = 3


@dataclass(frozen=True, slots=True)
class Advice:
    """One finding of a profile."""

    rule: str
    evidence: str
    consequence: str
    remedy: str

    def to_dict(self) -> dict[str, Any]:
        """As in the `profile` document."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Seen:
    """What the rules look at; milliseconds per run."""

    kernel_ms: float
    runs: int
    disturbed: int
    buckets: Mapping[str, float]
    layers: Sequence[tuple[str, str, float, str | None]]

    def share(self, ms: float) -> float:
        """Of the time in kernels."""
        return ms / self.kernel_ms if self.kernel_ms > 0 else 0.0


def advise(seen: Seen) -> tuple[Advice, ...]:
    """All that applies, the costliest first; `seen.layers` are (id, operator, ms, what limits it)."""
    found = sorted(_rules(seen), key=lambda entry: -entry[0])
    return tuple(advice for _, advice in found)


def _rules(seen: Seen) -> Iterator[tuple[float, Advice]]:
    yield from _reorder(seen)
    yield from _conversions(seen)
    yield from _dominant(seen)
    yield from _overhead(seen)
    yield from _unattributed(seen)
    yield from _busy(seen)


def _reorder(seen: Seen) -> Iterator[tuple[float, Advice]]:
    ms = seen.buckets["reorder"]
    if seen.share(ms) > REORDER_SHARE:
        yield (
            ms,
            Advice(
                "layout changes",
                f"{_percent(seen.share(ms))} of the kernel time ({_ms(ms)}) is in changes of memory layout.",
                "The runtime computes some operators in another order of axes and copies each tensor that crosses.",
                "Look at the operators between convolutions: those without a kernel in that layout force the copies.",
            ),
        )


def _conversions(seen: Seen) -> Iterator[tuple[float, Advice]]:
    for bucket, name in (("quantize", "quantizing and dequantizing"), ("cast", "casts between number types")):
        ms = seen.buckets[bucket]
        if seen.share(ms) > CONVERSION_SHARE:
            yield (
                ms,
                Advice(
                    f"{bucket} share",
                    f"{_percent(seen.share(ms))} of the kernel time ({_ms(ms)}) is in {name}.",
                    "Each border between precisions converts a whole tensor: what it saves is spent there.",
                    "Give neighbouring layers the same precision, so that fewer tensors cross a border.",
                ),
            )


def _dominant(seen: Seen) -> Iterator[tuple[float, Advice]]:
    working = [row for row in seen.layers if row[2] > 0]
    for layer_id, operator, ms, limit in working if len(working) >= _FEWEST_LAYERS else ():
        if seen.share(ms) > DOMINANT_SHARE:
            bound = f" It is bound by {limit}." if limit else ""
            yield (
                ms,
                Advice(
                    "one layer dominates",
                    f"{layer_id} ({operator}) takes {_percent(seen.share(ms))} of the kernel time ({_ms(ms)}).{bound}",
                    "Nothing done to the other layers can make the model more than "
                    f"{1 / max(seen.share(ms), 1e-9):.1f} times as fast.",
                    "Try a lower precision for this layer first.",
                ),
            )


def _overhead(seen: Seen) -> Iterator[tuple[float, Advice]]:
    """Time between kernels is left out: with the profiler on, most of it is the profiler's."""
    small = [ms for _, _, ms, limit in seen.layers if limit == "overhead"]
    share = seen.share(sum(small))
    if len(small) >= _FEWEST_LAYERS and share > OVERHEAD_SHARE:
        yield (
            sum(small),
            Advice(
                "many small kernels",
                f"{_percent(share)} of the kernel time ({_ms(sum(small))}) is in {len(small)} layers whose kernels "
                "take less than 10 microseconds.",
                "Calling them costs about as much as their work: a lower precision cannot make them faster.",
                "Run several samples together (a larger batch), or fold such layers together when exporting the model.",
            ),
        )


def _unattributed(seen: Seen) -> Iterator[tuple[float, Advice]]:
    ms = seen.buckets["unattributed"]
    if seen.share(ms) > UNATTRIBUTED_SHARE:
        yield (
            ms,
            Advice(
                "time without a layer",
                f"{_percent(seen.share(ms))} of the kernel time ({_ms(ms)}) is in kernels that no layer could be found "
                "for.",
                "The figures of the layers add up to less than the whole.",
                "Take the shares of single layers as lower bounds.",
            ),
        )


def _busy(seen: Seen) -> Iterator[tuple[float, Advice]]:
    if seen.runs and seen.disturbed / seen.runs > DISTURBED_SHARE:
        yield (
            0.0,
            Advice(
                "busy machine",
                f"Other processes took the processor during {seen.disturbed} of {seen.runs} runs.",
                "The latency is longer than on a quiet machine. Times of layers are medians over runs and hold better.",
                "Measure again when the machine is quiet.",
            ),
        )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _ms(ms: float) -> str:
    return f"{ms:.3g} ms"
