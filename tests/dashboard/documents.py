"""Made-up result documents of the right shape for tests of figures, tables and pages; never shown to a user."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

#: Read-only: a document takes its own copy, so that what one test changes in it is not seen by the next.
CONDITIONS: Mapping[str, Any] = MappingProxyType(
    {
        "machine": "0123456789ab",
        "cpu": "AMD EPYC 7B13",
        "cores": 2,
        "features": ["avx2"],
        "os": "Linux 6.1",
        "python": "3.11.9",
        "onnxruntime": "1.32.0",
        "provider": "CPUExecutionProvider",
        "threads": 1,
        "batch": 1,
        "load_average": 0.21,
        "seed": 0,
        "time": "2026-01-05T10:11:12+00:00",
    }
)


@dataclass
class Network:
    """A residual network grown until it has the wanted number of layers; `prefix` goes before every name."""

    wanted: int
    prefix: str = ""
    seed: int = 0
    rows: list[dict[str, Any]] = field(default_factory=list)
    groups: list[dict[str, Any]] = field(default_factory=list)
    edges: list[list[str]] = field(default_factory=list)
    nodes: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._depth: dict[str, int] = {}
        last = self._conv("stem/conv", [], channels=32, edge=32)
        last = self._layer("stem/relu", "Relu", [last], group=last, channels=32, edge=32)
        block = 0
        while len(self.rows) < self.wanted - 4:
            last = self._block(block, last)
            block += 1
        pool = self._layer("head/pool", "GlobalAveragePool", [last], channels=256, edge=1)
        flat = self._layer("head/flatten", "Flatten", [pool], channels=256, edge=1)
        self._layer("head/fc", "Gemm", [flat], channels=10, edge=1, weights=2560, macs=2560, kind="gemm")
        self._layer("head/softmax", "Softmax", [self.rows[-1]["id"]], channels=10, edge=1)

    def _block(self, number: int, source: str) -> str:
        stage = min(3, number * 4 // max(1, self.wanted // 7))
        channels, edge = 32 * 2**stage, 32 // 2**stage
        at = f"stage{stage + 1}/block{number}"
        first = self._conv(f"{at}/conv1", [source], channels=channels, edge=edge)
        relu = self._layer(f"{at}/relu1", "Relu", [first], group=first, channels=channels, edge=edge)
        second = self._conv(f"{at}/conv2", [relu], channels=channels, edge=edge)
        short = source
        if number % 3 == 0:
            short = self._conv(f"{at}/downsample", [source], channels=channels, edge=edge, lane=1, kernel=1)
        joined = self._layer(f"{at}/add", "Add", [second, short], channels=channels, edge=edge, kind="follower")
        return self._layer(f"{at}/relu2", "Relu", [joined], group=joined, channels=channels, edge=edge)

    def _conv(self, name: str, sources: list[str], *, channels: int, edge: int, lane: int = 0, kernel: int = 3) -> str:
        weights = channels * channels * kernel * kernel
        macs = weights * edge * edge
        style: dict[str, Any] = {"weights": weights, "macs": macs, "lane": lane, "kind": "conv"}
        return self._layer(name, "Conv", sources, channels=channels, edge=edge, **style)

    def _layer(
        self,
        name: str,
        op: str,
        sources: list[str],
        *,
        channels: int,
        edge: int,
        group: str | None = None,
        weights: int = 0,
        macs: int = 0,
        lane: int = 0,
        kind: str = "other",
    ) -> str:
        layer = f"{self.prefix}{name}"
        depth = 1 + max((self._depth[source] for source in sources), default=-1)
        self._depth[layer] = depth
        shape = [1, channels, edge, edge]
        self.rows.append(
            {
                "id": layer,
                "index": len(self.rows),
                "op": op,
                "domain": "",
                "group": group or layer,
                "group_kind": kind if group is None else self._kind(group),
                "scope": [],
                "module": layer.split("/")[:-1],
                "dtype": "float32",
                "inputs": [f"{source}:0" for source in sources] or ["x"],
                "outputs": [f"{layer}:0"],
                "input_shapes": [shape for _ in sources] or [[1, 1, 32, 32]],
                "output_shapes": [shape],
                "parameters": weights,
                "weight_bytes": 4 * weights,
                "activation_bytes": 4 * channels * edge * edge,
                "macs": macs,
            }
        )
        if group is None:
            self.groups.append({"id": layer, "anchor": layer, "kind": kind, "layers": [layer]})
        else:
            next(entry for entry in self.groups if entry["id"] == group)["layers"].append(layer)
        self.edges += [[source, layer] for source in sources]
        self.nodes.append({"layer": layer, "x": float(depth), "y": float(lane)})
        return layer

    def _kind(self, group: str) -> str:
        return str(next(entry for entry in self.groups if entry["id"] == group)["kind"])


def inspect_document(layers: int = 12, *, prefix: str = "", seed: int = 0) -> dict[str, Any]:
    """An `inspect` document with about that many layers."""
    network = Network(layers, prefix, seed)
    ops: dict[str, int] = {}
    for row in network.rows:
        ops[row["op"]] = ops.get(row["op"], 0) + 1
    model = {
        "name": "digits-cnn",
        "sha256": "ab" * 32,
        "bytes": 11_200_000,
        "layer_count": len(network.rows),
        "group_count": len(network.groups),
        "macs": sum(row["macs"] for row in network.rows),
    }
    width = 1 + max(node["x"] for node in network.nodes)
    return {
        "mixdesk": "0.1.0",
        "seconds": 0.8,
        "conditions": dict(CONDITIONS),
        "model": model,
        "ops": ops,
        "layers": network.rows,
        "groups": network.groups,
        "layout": {"nodes": network.nodes, "edges": network.edges, "width": width, "height": 2.0},
        "data": {"name": "digits", "samples": 360, "synthetic": False, "splits": {}, "labels": True},
    }


def profile_document(
    inspection: dict[str, Any], *, seed: int = 0, missing: float = 0.0, synthetic: bool = False
) -> dict[str, Any]:
    """A `profile` of that model; `missing` is the share of layers whose figures are null."""
    chance = random.Random(seed)
    rows = [_profiled(row, chance, missing) for row in inspection["layers"]]
    layers_ms = sum(row["ms"] or 0 for row in rows)
    buckets = {"reorder": 0.02, "quantize": 0.0, "cast": 0.0, "copy": 0.01, "unattributed": 0.013}
    buckets = {name: value * layers_ms for name, value in buckets.items()}
    kernel_ms = layers_ms + sum(buckets.values()) or 1.0
    for row in rows:
        row["share"] = None if row["ms"] is None else row["ms"] / kernel_ms
    wall = kernel_ms * 1.03
    return {
        "mixdesk": "0.1.0",
        "seconds": 9.1,
        "conditions": dict(CONDITIONS),
        "data": {**inspection["data"], "synthetic": synthetic},
        "wall_ms": {"median": wall, "mean": wall * 1.01, "ci95": [wall * 0.985, wall * 1.02], "p95": wall * 1.1},
        "instrumented_ms": kernel_ms * 1.08,
        "overhead": 1.0485,
        "kernel_ms": kernel_ms,
        "gap_ms": kernel_ms * 0.08,
        "attributed_share": 1 - buckets["unattributed"] / kernel_ms,
        "layers": rows,
        "buckets": buckets,
        "memory": {"activation_peak_bytes": 900_000, "arena_peak_bytes": None, "process_peak_bytes": 91_000_000},
        "advice": [
            {
                "rule": "layout-changes",
                "evidence": "2.0 % of the kernel time is in layout changes.",
                "consequence": "Convolutions in blocked layout pay for a reorder on both sides.",
                "remedy": "Keep neighbouring layers in one precision.",
            }
        ],
    }


def _profiled(row: dict[str, Any], chance: random.Random, missing: float) -> dict[str, Any]:
    ms = row["macs"] / 38e6 * chance.uniform(0.7, 1.4) + chance.uniform(0.0005, 0.004)
    moved = row["weight_bytes"] + 2 * row["activation_bytes"]
    gone = chance.random() < missing
    return {
        "id": row["id"],
        "group": row["group"],
        "op": row["op"],
        "ms": None if gone else (0.0 if row["op"] == "Relu" else ms),
        "share": None,
        "macs": None if gone else row["macs"],
        "bytes": None if gone else moved,
        "limited_by": None if gone else ("compute" if row["macs"] else "memory"),
        "executes_as": None if gone else ("Conv+Relu, NCHWc" if row["op"] in {"Conv", "Relu"} else row["op"]),
        "runs": 1,
    }


def machine_document(*, conv: str = "executed", matmul: str = "executed") -> dict[str, Any]:
    """A `machine` document whose grid says what happens to Conv and MatMul in int8."""
    refused = {"fp16": "emulated", "bf16": "unavailable"}
    rows = [_capability(op, "fp32", "executed", 1.0, "") for op in ("Conv", "Gemm", "MatMul", "Add")]
    rows += [_capability("Conv", "int8", conv, 2.4, "")]
    rows += [_capability(op, "int8", matmul, 1.9, "") for op in ("Gemm", "MatMul")]
    rows += [_capability("Add", "int8", "executed", 1.1, "")]
    for precision, state in refused.items():
        why = "runs through casts to fp32" if state == "emulated" else "the CPU provider refuses to load it"
        rows.append(_capability("Conv", precision, state, None, why))
    return {"mixdesk": "0.1.0", "seconds": 20.0, "conditions": dict(CONDITIONS), "machine": {}, "capability": rows}


def _capability(op: str, precision: str, state: str, speedup: float | None, why: str) -> dict[str, Any]:
    interval = None if speedup is None else [speedup * 0.97, speedup * 1.03]
    head = {"op": op, "signature": f"{op} 3x3", "precision": precision, "provider": "CPUExecutionProvider"}
    return {**head, "state": state, "speedup": speedup, "ci95": interval, "why": why}


def comparison_document(*, speedup: float = 2.84, accuracy: bool = True, missing: bool = False) -> dict[str, Any]:
    """A `compare` document; `missing` makes null what can be null."""
    near = [speedup * 0.985, speedup * 1.015]
    verdict = "better" if speedup > 1.03 else "worse" if speedup < 0.97 else "no difference seen"
    judged: dict[str, Any] = {"metric": "top1", "before": 0.9917, "after": 0.9889, "ci95_change": [-0.008, 0.003]}
    if not accuracy:
        judged = {**dict.fromkeys(judged), "why": "The data has no labels."}
    fidelity = {"sqnr_db": 31.4, "cosine": 0.9991, "max_abs_error": 0.21, "kl": 0.0021, "agreement": 0.9944}
    return {
        "mixdesk": "0.1.0",
        "seconds": 14.0,
        "conditions": dict(CONDITIONS),
        "ratio": {
            "latency": {"value": speedup, "ci95": near},
            "p95": speedup * 0.98,
            "throughput": speedup,
            "size": 3.61,
            "memory": None if missing else 1.12,
        },
        "latency": {"ratio": speedup, "ci95": near, "before_ms": 2.64, "after_ms": 2.64 / speedup},
        "throughput": None if missing else {"before_per_s": 378.8, "after_per_s": 378.8 * speedup},
        "size": {"before_bytes": 11_200_000, "after_bytes": 3_100_000},
        "memory": {"before_bytes": 91_000_000, "after_bytes": None if missing else 81_000_000},
        "accuracy": judged,
        "fidelity": dict.fromkeys(fidelity) if missing else fidelity,
        "noise": {"aa_ci95": [0.99, 1.01], "smallest_effect": 0.012},
        "verdict": verdict,
        "why": f"Latency: {speedup:.2f}x.",
        "gate": None,
    }


def target_document(*, met: bool = True) -> dict[str, Any]:
    """The `target` object of a search whose target was accuracy>=99%."""
    value = 0.9975 if met else 0.9725
    one = {"metric": "accuracy", "required": 0.988, "value": value, "bound": 0.979, "met": met, "samples": 400}
    return {"text": "accuracy>=99%", **one, "each": [{"text": "accuracy>=99%", **one, "why": None}]}


def build_document(inspection: dict[str, Any], *, refuse_every: int = 9, **comparison: Any) -> dict[str, Any]:
    """A `build` document: every convolution asked to be int8, each `refuse_every`-th refused with a reason."""
    rows, asked = [], 0
    for row in inspection["layers"]:
        wants = row["op"] in {"Conv", "Gemm"}
        asked += wants
        refused = wants and asked % refuse_every == 0
        requested = "int8" if wants else "fp32"
        produced = "fp32" if refused or not wants else "int8"
        why = "all Conv layers" if wants else "no rule matches"
        if refused:
            why = "what feeds this Conv stays in fp32: int8 would only add conversions"
        executed = "folded" if row["op"] == "Relu" else produced
        head = {key: row[key] for key in ("id", "group", "op")}
        rows.append({**head, "requested": requested, "produced": produced, "executed": executed, "why": why})
    compared = comparison_document(**comparison)
    return {
        "mixdesk": "0.1.0",
        "seconds": 31.0,
        "conditions": dict(CONDITIONS),
        "output": "",
        "bytes": 3_100_000,
        "layers": rows,
        "fidelity": compared["fidelity"],
        "accuracy": compared["accuracy"],
        "conversions": {"count": 4, "ms": 0.3 if compared["verdict"] == "worse" else 0.01},
        "candidate": "c1",
        "notes": ["7-bit weights, because 8-bit ones saturate on this CPU"],
        "plan": {"version": 1, "layers": [_planned(row) for row in rows]},
        "profile": None if comparison.get("missing") else _after(inspection, rows, comparison.get("speedup", 2.84)),
        "recipe": {"version": 1, "rules": [{"match": "op:Conv", "precision": "int8", "options": {}, "why": ""}]},
        "comparison": compared,
    }


def _planned(row: dict[str, Any]) -> dict[str, Any]:
    head = {"layer": row["id"], "group": row["group"], "requested": row["requested"]}
    return {**head, "precision": row["produced"], "why": row["why"], "rule": None}


def _after(inspection: dict[str, Any], rows: list[dict[str, Any]], speedup: float) -> dict[str, Any]:
    profile = profile_document(inspection)
    lowered = {row["id"] for row in rows if row["executed"] == "int8"}
    for row in profile["layers"]:
        row["ms"] = row["ms"] / speedup if row["id"] in lowered else row["ms"]
    profile["kernel_ms"] = sum(row["ms"] for row in profile["layers"])
    return {name: profile[name] for name in ("wall_ms", "kernel_ms", "layers", "buckets")}
