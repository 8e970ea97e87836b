"""Lines that tell one part of a document in words: data, target, accuracy, fidelity, precisions, conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.report import quantities


def data_line(data: Mapping[str, Any] | None) -> str:
    """The data in one line; synthetic data says so."""
    if data is None:
        return "none"
    splits = ", ".join(f"{count} {name}" for name, count in data["splits"].items())
    samples = quantities.counted(data["samples"], "sample")
    labels = "labelled" if data["labels"] else "no labels"
    if data["synthetic"]:
        return f"SYNTHETIC inputs ({samples}: {splits}): figures say nothing of real data"
    remarks = "".join(f"; {remark}" for remark in data["remarks"])
    return f"{data['name']}: {samples} ({splits}), {labels}{remarks}"


def units_line(units: Mapping[str, Any]) -> str:
    """How much of the work was finished before: "57 of 60 pieces were finished before (key 1a2b3c4d5e6f); ..."."""
    reused, computed = int(units["reused"]), int(units["computed"])
    if not reused:
        return f"{computed} pieces, kept under the key {units['key']}"
    return f"{reused} of {reused + computed} pieces were finished before (key {units['key']}); --fresh does all anew"


def precisions_line(layers: Sequence[Mapping[str, Any]], key: str) -> str:
    """How many layers have which value of `key`: "int8 42, fp32 7"."""
    counts: dict[str, int] = {}
    for layer in layers:
        name = str(layer[key] if layer[key] is not None else "not known")
        counts[name] = counts.get(name, 0) + 1
    ranked = sorted(counts.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {count}" for name, count in ranked)


def lowered_line(layers: Sequence[Mapping[str, Any]]) -> str:
    """How many layers the file holds in less than fp32, and in what: "22 of 28 lowered: int8 22"."""
    lowered = [layer for layer in layers if layer["produced"] != "fp32"]
    into = f": {precisions_line(lowered, 'produced')}" if lowered else ""
    return f"{len(lowered)} of {len(layers)} lowered{into}"


def difference_lines(document: Mapping[str, Any]) -> list[str]:
    """How the model differs from the one that its recipe was made for: "'head' changed: had 640 weights, has 320"."""
    rows = document.get("differences") or ()
    return [f"{_quoted(row['layer'])}{row['what']}: {row['why']}" for row in rows]


def _quoted(layer: str | None) -> str:
    return "" if layer is None else f"'{layer}' "


def left_lines(layers: Sequence[Mapping[str, Any]], *, most: int = 3) -> list[str]:
    """Why layers stay in fp32, most frequent reasons first: "4 in fp32: Softmax has no static int8 kernel ..."."""
    reasons: dict[str, int] = {}
    for layer in layers:
        if layer["produced"] == "fp32" and layer["executed"] in (
            "fp32",
            None,
        ):  # others were folded, or move 8-bit codes
            why = str(layer["why"] or "no reason told")
            reasons[why] = reasons.get(why, 0) + 1
    ranked = sorted(reasons.items(), key=lambda item: -item[1])
    told = [f"{count} in fp32: {why}" for why, count in ranked[:most]]
    more = sum(count for _, count in ranked[most:])
    return [*told, f"{more} more in fp32, each with its reason in the report"] if more else told


def fidelity_line(fidelity: Mapping[str, Any] | None) -> str:
    """SQNR, cosine, KL and agreement in one line; what does not apply is left out."""
    if fidelity is None:
        return "not measured"
    known = {
        "SQNR": quantities.with_unit(fidelity.get("sqnr_db"), "dB"),
        "cosine": _long(fidelity.get("cosine")),
        "KL": quantities.three(fidelity.get("kl")),
        "agreement": quantities.share(fidelity.get("agreement")),
    }
    shown = [f"{name} {value}" for name, value in known.items() if value != quantities.NOT_KNOWN]
    return ", ".join(shown) or quantities.NOT_KNOWN


def accuracy_line(accuracy: Mapping[str, Any] | None) -> str:
    """The task's metric before and after with the interval of the change; where there is none, why."""
    if not accuracy or accuracy.get("before") is None:
        return f"not measured: {(accuracy or {}).get('why') or 'the data has no labels'}"
    change = accuracy.get("ci95_change")
    interval = "" if not change else f" (change {quantities.points(change[0])} to {quantities.points(change[1])})"
    before, after = quantities.share(accuracy["before"]), quantities.share(accuracy["after"])
    return f"{accuracy['metric']} {before} -> {after}{interval}"


def conditions_line(conditions: Mapping[str, Any]) -> str:
    """Under what a number was measured, in one line."""
    return (
        f"{conditions['cpu']}, {conditions['cores']} cores, onnxruntime {conditions['onnxruntime']}, "
        f"{conditions['provider']}, threads {conditions['threads']}, batch {conditions['batch']}, "
        f"seed {conditions['seed']}, load {conditions['load_average']}, {conditions['time']}"
    )


def target_line(target: Mapping[str, Any] | None) -> str:
    """The target, whether it is met, and the figure that decides."""
    if not target or not target.get("text"):
        return "none"
    value = quantities.three(target["value"])
    if target["met"] is None:
        return f"{target['text']}: not judged"
    return f"{target['text']}: {'met' if target['met'] else 'NOT met'} ({target['metric']} {value})"


def _long(value: float | None) -> str:
    """A cosine needs its digits: 0.99987."""
    return quantities.NOT_KNOWN if value is None else f"{value:.5f}"
