"""Rules about precision: islands and round trips, layers too small for int8, what was left out of an int8 model, types.

A conversion that is a node of the file itself cannot be taken away by a recipe: then the remedy is for who exports it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from core.measure.advised import Advice, Change, counted, names, percent, time_text, to_precision
from core.measure.islands import Island, find_islands, find_round_trip
from core.measure.limits import OVERHEAD_MS
from core.measure.seen import FP32, INT8, Seen, SeenKernel, SeenLayer
from core.recipe.precision import Precision
from core.recipe.resolve import WEIGHTED

Found = Iterator[tuple[float, Advice]]

#: Borders are told where they take this share of the island's own time, and all of them this share of the kernels'.
BORDER_SHARE, ISLANDS_SHARE = 0.25, 0.01
#: Layers that were left are told where they take this share of the kernel time.
LEFT_SHARE = 0.02
SIGNED_SHARE = 0.10
DYNAMIC_SHARE = 0.02
_FEWEST_TINY = 3

_EXPORT = "The conversions are nodes of the file: "
_FLOAT_MODEL = "start from the float model and choose int8 on the Mix page"


def int8_islands(seen: Seen) -> Found:
    """int8 between fp32 stretches whose conversions take a quarter of its own time or more."""
    islands = _costly(seen, INT8)
    if not islands:
        return
    if any(island.own for island in islands):
        yield _told(islands, seen, f"{_EXPORT}leave these layers in fp32 when exporting, or {_FLOAT_MODEL}.", None)
        return
    groups = _groups(seen, _layers(islands))
    change = to_precision(groups, Precision.FP32, "advice: an island of int8 whose conversions cost too much")
    yield _told(islands, seen, "Take these layers back to fp32, or lower their neighbours too.", change)


def fp32_islands(seen: Seen) -> Found:
    """fp32 between int8 stretches whose conversions take a quarter of its own time or more."""
    islands = _costly(seen, FP32)
    if not islands:
        return
    layers = [seen.layer[layer] for layer in _layers(islands) if layer in seen.layer]
    stuck = sorted({layer.op for layer in layers if not seen.lowers(layer)})
    if any(island.own for island in islands):
        yield _told(islands, seen, f"{_EXPORT}quantize these layers too when exporting, or {_FLOAT_MODEL}.", None)
    elif stuck:
        why = f"{names(stuck)} has no int8 form that this machine executes"
        yield _told(islands, seen, f"{why}: take the int8 layers on one side back to fp32.", None)
    else:
        groups = _groups(seen, [layer.id for layer in layers])
        change = to_precision(groups, Precision.INT8, "advice: an island of fp32 between int8 layers")
        yield _told(islands, seen, "Give these layers the int8 of their neighbours.", change)


def _costly(seen: Seen, precision: str) -> list[Island]:
    found = [island for island in find_islands(seen.kernels) if island.precision == precision]
    costly = [island for island in found if island.conversion_ms >= BORDER_SHARE * island.ms]
    return costly if seen.share(sum(island.conversion_ms for island in costly)) >= ISLANDS_SHARE else []


def _told(islands: Sequence[Island], seen: Seen, remedy: str, change: Change | None) -> tuple[float, Advice]:
    inside = islands[0].precision
    outside = FP32 if inside == INT8 else INT8
    layers = _layers(islands)
    borders_ms, own_ms = sum(island.conversion_ms for island in islands), sum(island.ms for island in islands)
    stretches = "1 stretch" if len(islands) == 1 else f"{len(islands)} stretches"
    conversions = counted(sum(island.conversions for island in islands), "conversion")
    return borders_ms, Advice(
        f"{inside} islands",
        f"{stretches} of {inside} between {outside} layers ({names(layers)}): {conversions} at the borders take "
        f"{time_text(borders_ms)} ({percent(seen.share(borders_ms))} of the kernel time), the layers inside "
        f"{time_text(own_ms)}.",
        "Each border converts a whole tensor: what the layers save in between is spent there.",
        remedy,
        layers,
        change,
    )


def _layers(islands: Sequence[Island]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(layer for island in islands for layer in island.layers))


def round_trips(seen: Seen) -> Found:
    """Tensors that are quantized and at once dequantized: rounding is paid for, no kernel computes in int8."""
    trip = find_round_trip(seen.kernels)
    if trip is None or seen.share(trip.ms) < ISLANDS_SHARE:
        return
    layers = tuple(layer for layer in trip.layers if layer in seen.layer)
    change: Change | None = to_precision(
        _groups(seen, layers), Precision.FP32, "advice: it computes in fp32 on values that were rounded for nothing"
    )
    remedy = "Take the layers that read them back to fp32."
    if trip.own:
        remedy, change = f"{_EXPORT}leave them out around these layers when exporting, or {_FLOAT_MODEL}.", None
    yield (
        trip.ms,
        Advice(
            "round trips",
            f"{counted(trip.count, 'tensor')} read by {names(layers) or 'the end of the model'}: quantized and at once "
            f"dequantized, in {time_text(trip.ms)} ({percent(seen.share(trip.ms))} of the kernel time).",
            "The values are rounded and the time is spent, but the kernels behind compute in floating point.",
            remedy,
            layers,
            change if layers else None,
        ),
    )


def too_small_for_int8(seen: Seen) -> Found:
    """Layers with weights that take what a call costs, and stand where int8 needs a conversion of its own."""
    tiny = [
        layer
        for layer in seen.layers
        if layer.op in WEIGHTED
        and layer.precision == FP32
        and 0 < layer.ms < OVERHEAD_MS * max(layer.runs, 1.0)
        and seen.lowers(layer)
        and _stands_alone(seen, layer)
    ]
    if len(tiny) < _FEWEST_TINY:
        return
    ms = sum(layer.ms for layer in tiny)
    layers = tuple(layer.id for layer in sorted(tiny, key=lambda layer: -layer.ms))
    yield (
        0.0,
        Advice(
            "too small for int8",
            f"{len(tiny)} layers with weights ({names(layers)}) take less than 10 µs each, {time_text(ms)} together "
            f"({percent(seen.share(ms))} of the kernel time), and beside them are operators without an int8 form.",
            f"In int8 they could save {time_text(ms)} at the most, and each would add a conversion.",
            "Leave them in fp32: that also keeps their accuracy.",
            layers,
            to_precision(_groups(seen, layers), Precision.FP32, "advice: too small for int8 to pay"),
        ),
    )


def _stands_alone(seen: Seen, layer: SeenLayer) -> bool:
    """Whether a layer outside its group that feeds or reads it has no int8 form, or there is none on one side."""
    members = {other.id for other in seen.layers if other.group == layer.group} if layer.group else {layer.id}
    for side in ("feeders", "readers"):
        around = {near for member in members for near in getattr(seen.layer[member], side)} - members
        if not around or any(near in seen.layer and not seen.lowers(seen.layer[near]) for near in around):
            return True
    return False


def fp32_convolutions_left(seen: Seen) -> Found:
    """Convolutions that compute in fp32 although most of the model's do not."""
    convolutions = [layer for layer in seen.layers if layer.op == "Conv" and layer.ms > 0]
    left = sorted((layer for layer in convolutions if layer.precision == FP32), key=lambda layer: -layer.ms)
    lowered = [layer for layer in convolutions if layer.precision == INT8]
    ms = sum(layer.ms for layer in left)
    if not left or len(lowered) < len(left) or seen.share(ms) < LEFT_SHARE:
        return
    reasons = _reasons(seen, left)
    refused = [layer for layer in left if layer.id in seen.known.plan and _was_refused(seen, layer)]
    free = [layer for layer in left if layer not in refused and seen.lowers(layer)]
    change = to_precision(
        _groups(seen, [layer.id for layer in free]), Precision.INT8, "advice: an fp32 convolution left"
    )
    told = f" Why: {reasons}." if reasons else ""
    yield (
        ms,
        Advice(
            "fp32 convolutions left",
            f"{len(left)} of {len(convolutions)} convolutions compute in fp32 "
            f"({names([layer.id for layer in left])}): {time_text(ms)}, {percent(seen.share(ms))} of the kernel time."
            f"{told}",
            "The others compute in int8: what is left in fp32 is a growing part of the time.",
            "Try them in int8, one at a time where accuracy matters."
            if free
            else "They were asked for in int8 already; what stands in their way is told above.",
            tuple(layer.id for layer in left),
            change if free else None,
        ),
    )


def _was_refused(seen: Seen, layer: SeenLayer) -> bool:
    """Whether int8 was asked for, so that asking again leads to the same."""
    return seen.known.plan[layer.id].requested == INT8


def _reasons(seen: Seen, layers: Sequence[SeenLayer]) -> str:
    """Why the plan left them, the most frequent first: "no rule matches (3), ..."."""
    counts: dict[str, int] = defaultdict(int)
    for layer in layers:
        if layer.id in seen.known.plan:
            counts[seen.known.plan[layer.id].why] += 1
    ranked = sorted(counts.items(), key=lambda item: -item[1])
    return ", ".join(f"{why} ({count})" for why, count in ranked)


def signed_activations(seen: Seen) -> Found:
    """On x86, products of 8-bit integers whose activations are signed."""
    if not seen.x86:
        return
    products = [kernel for kernel in seen.kernels if _multiplies_int8(kernel)]
    signed = [kernel for kernel in products if kernel.types[0] == "int8"]
    ms = sum(kernel.ms for kernel in signed)
    if signed and seen.share(ms) > SIGNED_SHARE:
        layers = tuple(dict.fromkeys(layer for kernel in signed for layer in kernel.layers))
        yield (
            ms,
            Advice(
                "signed activations",
                f"{len(signed)} of {len(products)} kernels that multiply 8-bit integers read signed activations (s8): "
                f"{time_text(ms)}, {percent(seen.share(ms))} of the kernel time.",
                "On x86 processors the fast 8-bit products take unsigned activations and signed weights (u8 x s8).",
                f"Export with unsigned activations (QuantType.QUInt8) and signed weights, or {_FLOAT_MODEL}: "
                "Mixdesk places u8 x s8.",
                layers,
            ),
        )


_PRODUCTS = ("QLinearConv", "QLinearMatMul", "QGemm", "MatMulInteger", "ConvInteger")


def _multiplies_int8(kernel: SeenKernel) -> bool:
    return kernel.op.startswith(_PRODUCTS) and bool(kernel.types)


def dynamic_convolutions(seen: Seen) -> Found:
    """Convolutions whose activations are quantized anew in every run."""
    convolutions = [kernel for kernel in seen.kernels if kernel.op == "ConvInteger"]
    keys = {key for kernel in convolutions for key in kernel.reads}
    rounding = [
        kernel for kernel in seen.kernels if kernel.op == "DynamicQuantizeLinear" and keys.intersection(kernel.writes)
    ]
    ms = sum(kernel.ms for kernel in (*convolutions, *rounding))
    if convolutions and seen.share(ms) > DYNAMIC_SHARE:
        layers = tuple(dict.fromkeys(layer for kernel in convolutions for layer in kernel.layers))
        rounding_ms = sum(kernel.ms for kernel in rounding)
        yield (
            ms,
            Advice(
                "dynamic quantization of convolutions",
                f"{counted(len(convolutions), 'convolution')} quantized dynamically ({names(layers)}): "
                f"{time_text(ms)}, {percent(seen.share(ms))} of the kernel time; {time_text(rounding_ms)} of it find "
                "ranges and round.",
                "ConvInteger finds the range of every input anew in each run and has no fused, blocked kernel.",
                f"Quantize the convolutions statically, or leave them in fp32: {_FLOAT_MODEL}. "
                "No recipe can undo what is in the file.",
                layers,
            ),
        )


def _groups(seen: Seen, layers: Sequence[str]) -> list[str]:
    """The groups of these layers; only of those that the model has."""
    return list(dict.fromkeys(seen.layer[layer].group or layer for layer in layers if layer in seen.layer))
