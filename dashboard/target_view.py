"""Target view: what had to be kept, what was reached and what was needed, each in the unit of its metric."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from core.report import quantities

_WRITTEN: Mapping[str, Callable[[float | None], str]] = {
    "accuracy": quantities.share,
    "agreement": quantities.share,
    "sqnr": lambda value: quantities.with_unit(value, "dB"),
    "latency": quantities.time_ms,
    "size": quantities.size,
    "speedup": quantities.ratio,
}


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
    """One condition: "accuracy 99.8 %, needed 98.8 % (at least 97.9 % with 95 % confidence, 400 samples)"."""
    metric = str(judged.get("metric") or "")
    write = _WRITTEN.get(metric, quantities.three)
    if judged.get("value") is None:
        return f"{metric} not known: {judged.get('why') or 'it was not measured'}"
    parts = [f"{metric} {write(judged['value'])}"]
    if judged.get("required") is not None:
        parts.append(f"needed {write(judged['required'])}")
    text = ", ".join(parts)
    if judged.get("bound") is not None:
        side = "at most" if metric in {"latency", "size"} else "at least"
        text += f" ({side} {write(judged['bound'])} with 95 % confidence, {judged.get('samples')} samples)"
    if not judged.get("met") and judged.get("why"):
        text += f": {judged['why']}"
    return text
