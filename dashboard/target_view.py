"""Target view: what had to be kept, what was reached and what was needed, each in the unit of its metric."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import TargetError
from core.measure.target import parse_target
from core.report import quantities

_WRITTEN: Mapping[str, Callable[[float | None], str]] = {
    "accuracy": quantities.share,
    "agreement": quantities.share,
    "sqnr": lambda value: quantities.with_unit(value, "dB"),
    "latency": quantities.time_ms,
    "size": quantities.size,
    "speedup": quantities.ratio,
}


#: Known to the last digit: a bound would say nothing.
_EXACT = frozenset({"size"})


@dataclass(frozen=True, slots=True)
class TargetView:
    """A judged target: its text, whether it is met, and a sentence for each condition."""

    text: str
    met: bool
    conditions: tuple[str, ...]


def target_view(document: Mapping[str, Any]) -> TargetView | None:
    """The target of an `optimize` document or the gate of a comparison; None where there was none."""
    compared = document.get("comparison") or document
    found = document.get("target") or compared.get("gate")
    if not found or not found.get("text"):
        return None
    each = found.get("each") or ([found] if "metric" in found else [])
    return TargetView(found["text"], bool(found.get("met")), tuple(_condition(entry) for entry in each))


def _condition(judged: Mapping[str, Any]) -> str:
    """One condition: value; what was needed, and of what; the bound.

    For example "accuracy 99.8 %; needed 98.8 % (99 % of the original's 99.8 %); surely at least 99.0 % (95 % bound,
    400 samples)".
    """
    metric = str(judged.get("metric") or "")
    write = _WRITTEN.get(metric, quantities.three)
    if judged.get("value") is None:
        return f"{metric} not known: {judged.get('why') or 'it was not measured'}"
    parts = [f"{metric} {write(judged['value'])}"]
    if judged.get("required") is not None:
        parts.append(f"needed {write(judged['required'])}{_of_original(judged)}")
    if judged.get("bound") is not None and metric not in _EXACT:
        samples = quantities.counted(judged.get("samples") or 0, "sample")
        side = "at most" if metric == "latency" else "at least"
        parts.append(f"surely {side} {write(judged['bound'])} (95 % bound, {samples})")
    text = "; ".join(parts)
    if not judged.get("met") and judged.get("why"):
        text += f": {judged['why']}"
    return text


def _of_original(judged: Mapping[str, Any]) -> str:
    """Where what is needed is a share of the original's figure: that share and that figure; else nothing."""
    try:
        conditions = parse_target(str(judged.get("text") or "")).conditions
    except TargetError:
        return ""
    if len(conditions) != 1 or not conditions[0].relative or not conditions[0].limit:
        return ""
    limit = conditions[0].limit
    write = _WRITTEN.get(conditions[0].metric, quantities.three)
    return f" ({100 * limit:.6g} % of the original's {write(judged['required'] / limit)})"
