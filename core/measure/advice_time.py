"""Rules about time: layout changes, conversions, one layer that rules all, small kernels, layers far below the roof."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from core.measure.advised import Advice, Change, counted, names, percent, time_text, to_precision
from core.measure.seen import FP32, INT8, Seen, SeenLayer
from core.recipe.precision import Precision
from core.recipe.resolve import WEIGHTED

Found = Iterator[tuple[float, Advice]]

REORDER_SHARE = 0.10
CONVERSION_SHARE = 0.10
DOMINANT_SHARE = 0.40
OVERHEAD_SHARE = 0.25
UNATTRIBUTED_SHARE = 0.02
DISTURBED_SHARE = 0.75
#: A layer is far below the roof where it takes so much of the time and reaches less than this of the possible.
ROOF_SHARE, FAR_BELOW = 0.10, 0.25

#: Rules about single layers say nothing of a model with fewer.
_FEWEST_LAYERS = 3


def layout_changes(seen: Seen) -> Found:
    """More than a tenth of the kernel time is in changes of memory layout."""
    ms = seen.buckets["reorder"]
    if seen.share(ms) > REORDER_SHARE:
        beside = _around_reorders(seen)
        where = f" They stand beside {names(beside)}." if beside else ""
        yield (
            ms,
            Advice(
                "layout changes",
                f"{percent(seen.share(ms))} of the kernel time ({time_text(ms)}) is in changes of memory layout."
                f"{where}",
                "The runtime computes some operators in another order of axes and copies each tensor that crosses.",
                "Look at the operators between convolutions: those without a kernel in that layout force the copies.",
                tuple(beside),
            ),
        )


def _around_reorders(seen: Seen) -> list[str]:
    """Layers that the reorders read from or write for, those beside the longest reorders first."""
    writer = {key: kernel for kernel in seen.kernels for key in kernel.writes}
    reorders = sorted((kernel for kernel in seen.kernels if kernel.bucket == "reorder"), key=lambda one: -one.ms)
    found: dict[str, None] = {}
    for reorder in reorders:
        written = set(reorder.writes)
        feeding = [writer[key] for key in reorder.reads if key in writer]
        reading = [kernel for kernel in seen.kernels if written.intersection(kernel.reads)]
        found.update(dict.fromkeys(layer for kernel in (*feeding, *reading) for layer in kernel.layers[:1]))
    return list(found)


def conversion_share(seen: Seen) -> Found:
    """More than a tenth of the kernel time is in conversions of one kind."""
    for bucket, name in (("quantize", "quantizing and dequantizing"), ("cast", "casts between number types")):
        ms = _converted_ms(seen, bucket)
        if seen.share(ms) > CONVERSION_SHARE:
            yield (
                ms,
                Advice(
                    f"{bucket} share",
                    f"{percent(seen.share(ms))} of the kernel time ({time_text(ms)}) is in {name}.",
                    "Each border between precisions converts a whole tensor: what it saves is spent there.",
                    "Give neighbouring layers the same precision, so that fewer tensors cross a border.",
                ),
            )


def _converted_ms(seen: Seen, bucket: str) -> float:
    """The bucket, and the layers that are such conversions themselves because the file has them as nodes."""
    kinds = ("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear") if bucket == "quantize" else ("Cast",)
    return seen.buckets[bucket] + sum(layer.ms for layer in seen.layers if layer.op in kinds)


def one_layer_dominates(seen: Seen) -> Found:
    """One layer takes more than two fifths of the kernel time."""
    working = [layer for layer in seen.layers if layer.ms > 0]
    for layer in working if len(working) >= _FEWEST_LAYERS else ():
        if seen.share(layer.ms) > DOMINANT_SHARE:
            remedy, change = _lowered(seen, layer)
            bound = f" It is bound by {layer.limited_by}." if layer.limited_by else ""
            yield (
                layer.ms,
                Advice(
                    "one layer dominates",
                    f"{layer.id} ({layer.op}) takes {percent(seen.share(layer.ms))} of the kernel time "
                    f"({time_text(layer.ms)}).{bound}",
                    "Nothing done to the other layers can make the model more than "
                    f"{1 / max(seen.share(layer.ms), 1e-9):.1f} times as fast.",
                    remedy,
                    (layer.id,),
                    change,
                ),
            )


def _lowered(seen: Seen, layer: SeenLayer) -> tuple[str, Change | None]:
    """Words for trying a lower precision, and the change where that can be built and is executed here."""
    if layer.precision == INT8:
        return "It computes in int8 already: make the layer itself smaller, or run it on more threads.", None
    if layer.op not in WEIGHTED or layer.precision not in (FP32, None):
        return f"No recipe gives {layer.op} a faster form: make the layer smaller, or run it on more threads.", None
    if not seen.lowers(layer):
        return f"This machine has no int8 kernel for {layer.op}: make the layer smaller, or use more threads.", None
    change = to_precision([layer.group or layer.id], Precision.INT8, "advice: the layer that takes most of the time")
    return "Try int8 for this layer first.", change


def many_small_kernels(seen: Seen) -> Found:
    """A quarter of the time is in kernels that cost what calling them costs.

    Time between kernels is left out: with the profiler on, most of it is the profiler's.
    """
    small = [layer for layer in seen.layers if layer.limited_by == "overhead"]
    ms = sum(layer.ms for layer in small)
    if len(small) >= _FEWEST_LAYERS and seen.share(ms) > OVERHEAD_SHARE:
        told, change = _larger_batch(seen)
        yield (
            ms,
            Advice(
                "many small kernels",
                f"{percent(seen.share(ms))} of the kernel time ({time_text(ms)}) is in {len(small)} layers whose "
                "kernels take less than 10 microseconds.",
                "Calling them costs about as much as their work: a lower precision cannot make them faster.",
                f"{told}, or fold such layers together when exporting the model.",
                _longest(small),
                change,
            ),
        )


def _larger_batch(seen: Seen) -> tuple[str, Change | None]:
    """The batch that a sweep found to give the most samples per second with these threads; else only the words."""
    same = [cell for cell in seen.known.swept if cell.threads == seen.threads]
    here = next((cell for cell in same if cell.batch == seen.batch), None)
    best = max(same, key=lambda cell: cell.throughput, default=None)
    if here is None or best is None or best.batch <= seen.batch:
        return "Run several samples together (the sweep measures which batch pays)", None
    gain = best.throughput / here.throughput
    told = f"Run {best.batch} samples together: a sweep measured {gain:.2f} times the samples per second"
    return told, Change(session={"batch": best.batch})


def far_below_the_roof(seen: Seen) -> Found:
    """A layer that takes a tenth of the time reaches less than a quarter of what this machine could do."""
    for layer in seen.layers:
        if layer.attained is None or layer.limited_by == "overhead":
            continue
        if seen.share(layer.ms) > ROOF_SHARE and layer.attained < FAR_BELOW:
            rate = f" ({layer.gflops:.3g} GFLOP/s)" if layer.gflops else ""
            yield (
                layer.ms * (1 - layer.attained),
                Advice(
                    "far below the roof",
                    f"{layer.id} ({layer.op}) takes {percent(seen.share(layer.ms))} of the kernel time "
                    f"({time_text(layer.ms)}) and reaches {percent(layer.attained)} of what this machine could do"
                    f"{rate}.",
                    f"At the roof it would take {time_text(layer.ms * layer.attained)}.",
                    "Look at its shape: few channels, a depthwise or strided kernel, or a batch of one leave most of "
                    "the processor's vectors empty. Wider or fewer layers of this kind do more in the same time.",
                    (layer.id,),
                ),
            )


def time_without_a_layer(seen: Seen) -> Found:
    """Kernels that no layer could be found for."""
    ms = seen.buckets["unattributed"]
    if seen.share(ms) > UNATTRIBUTED_SHARE:
        yield (
            ms,
            Advice(
                "time without a layer",
                f"{percent(seen.share(ms))} of the kernel time ({time_text(ms)}) is in kernels that no layer could be "
                "found for.",
                "The figures of the layers add up to less than the whole.",
                "Take the shares of single layers as lower bounds.",
            ),
        )


def busy_machine(seen: Seen) -> Found:
    """Another process took the processor during most runs."""
    if seen.runs and seen.disturbed / seen.runs > DISTURBED_SHARE:
        yield (
            0.0,
            Advice(
                "busy machine",
                f"Other processes took the processor during {seen.disturbed} of {counted(seen.runs, 'run')}.",
                "The latency is longer than on a quiet machine. The shares of the layers hold better.",
                "Measure again when the machine is quiet.",
            ),
        )


def _longest(layers: Iterable[SeenLayer]) -> tuple[str, ...]:
    return tuple(layer.id for layer in sorted(layers, key=lambda layer: -layer.ms))
