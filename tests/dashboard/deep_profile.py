"""A made-up `profile` document with everything a profile can hold; never shown to a user."""

from __future__ import annotations

from typing import Any

from tests.dashboard.documents import profile_document

#: Of a small machine, so that layers lie on both sides of its ridge point.
ROOFLINE: dict[str, Any] = {"gflops": {"fp32": 90.0, "int8": 240.0}, "gbytes_per_s": 12.0, "threads": 1}


def deep_profile(inspection: dict[str, Any], *, seed: int = 0, missing: float = 0.0) -> dict[str, Any]:
    """A profile with precision, roofline, timeline, memory by step and growth."""
    document = profile_document(inspection, seed=seed, missing=missing)
    document["roofline"] = {**ROOFLINE, "gflops": dict(ROOFLINE["gflops"])}
    document["layers"] = [_deepened(row, number) for number, row in enumerate(document["layers"])]
    document["timeline"] = timeline(document)
    document["memory"] = {**document["memory"], **memory(inspection)}
    document["growth"] = growth(document)
    document["cold"] = {"load_ms": 41.0, "first_run_ms": 9.3}
    document["instrumented_run_ms"] = document["instrumented_ms"] * 1.002
    return document


def _deepened(row: dict[str, Any], number: int) -> dict[str, Any]:
    if not row["ms"]:
        return {**row, "precision": None, "intensity": None, "gflops": None, "attained": None}
    precision = "int8" if row["op"] == "Conv" and number % 3 == 0 else "fp32"
    peak, bandwidth = ROOFLINE["gflops"][precision], ROOFLINE["gbytes_per_s"]
    least_ms = max(2 * row["macs"] / peak, row["bytes"] / bandwidth) / 1e6
    return {
        **row,
        "precision": precision,
        "intensity": 2 * row["macs"] / row["bytes"],
        "gflops": 2 * row["macs"] / row["ms"] / 1e6,
        "attained": least_ms / row["ms"],
    }


def timeline(document: dict[str, Any]) -> dict[str, Any]:
    """Every layer that took time as one kernel, a layout change before each convolution, equal gaps between them."""
    timed = [row for row in document["layers"] if row["ms"]]
    gap = document["gap_ms"] / (len(timed) + 1)
    reorder = document["buckets"]["reorder"] / max(1, sum(row["op"] == "Conv" for row in timed))
    at, kernels = gap, []
    for row in timed:
        if row["op"] == "Conv":
            kernels.append(kernel("reorder", "ReorderInput", at, reorder, bucket="reorder"))
            at += reorder
        kernels.append(kernel(f"{row['id']}_kernel", row["op"], at, row["ms"], layers=[row["id"]]))
        at += row["ms"] + gap
    return {"ms": at, "kernels": kernels, "omitted": 0}


def kernel(name: str, op: str, start_ms: float, ms: float, **more: Any) -> dict[str, Any]:
    """One kernel of a timeline."""
    head: dict[str, Any] = {"name": name, "op": op, "layers": [], "bucket": None, "start_ms": start_ms, "ms": ms}
    return {**head, "span_ms": ms, "container": None, **more}


def memory(inspection: dict[str, Any]) -> dict[str, Any]:
    """Live bytes while a layer runs: what it reads and what it writes."""
    size = {row["id"]: row["activation_bytes"] for row in inspection["layers"]}
    reads: dict[str, int] = dict.fromkeys(size, 0)
    for source, target in inspection["layout"]["edges"]:
        reads[target] += size[source]
    steps = [{"layer": layer, "bytes": size[layer] + reads[layer]} for layer in size]
    peak = max(steps, key=lambda step: step["bytes"])
    writers = [source for source, target in inspection["layout"]["edges"] if target == peak["layer"]]
    holders = [
        {"layer": layer, "tensor": f"{layer}:0", "bytes": size[layer], "from": layer, "to": peak["layer"]}
        for layer in (*writers, peak["layer"])
    ]
    return {
        "activation_peak_bytes": peak["bytes"],
        "activation_total_bytes": sum(size.values()),
        "planned_bytes": round(peak["bytes"] * 1.1),
        "arena_peak_bytes": round(peak["bytes"] * 1.4),
        "steps": steps,
        "peak_at": peak["layer"],
        "holders": sorted(holders, key=lambda holder: -holder["bytes"]),
    }


def growth(document: dict[str, Any]) -> dict[str, Any]:
    """Three sizes: convolutions grow in proportion, the head does not grow, every ninth layer grows with the square."""
    points = [
        {
            "name": name,
            "shapes": {"x": [1, 1, 32 * factor, 32]},
            "elements": 1024 * factor,
            "wall_ms": {**document["wall_ms"], "median": document["wall_ms"]["median"] * factor},
            "kernel_ms": document["kernel_ms"] * factor,
        }
        for name, factor in (("short", 1), ("middle", 2), ("long", 4))
    ]
    rows = []
    for number, row in enumerate(document["layers"]):
        power = 0.0 if row["id"].startswith("head/") else 2.0 if number % 9 == 0 else 1.0
        times = [None if row["ms"] is None else row["ms"] * factor**power for factor in (1, 2, 4)]
        rows.append({"id": row["id"], "ms": times, "exponent": power if row["ms"] else None})
    return {"points": points, "layers": rows}
