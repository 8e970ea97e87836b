"""A profile and the inspection of its model, with names as files hold them: odd, empty, repeated, in branches."""

from __future__ import annotations

from typing import Any

ODD = 'Größe "½"/<b>\\n</b>'


def layer(layer_id: str, op: str = "Relu", *, scope: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    """A row of an `inspect` document."""
    own = layer_id.removeprefix("".join(f"{part}/" for part in scope))
    row = {"id": layer_id, "name": own, "unique_name": own, "op": op, "scope": list(scope), "outputs": [f"{own}_out"]}
    return row | more


def inspection(graph: str = "main_graph") -> dict[str, Any]:
    """Six layers at the top, of which two share a name and one has none, an `If` with branches, and a loop."""
    return {
        "model": {"name": "m", "graph": graph},
        "layers": [
            layer("conv", "Conv"),
            layer(ODD, "Conv"),
            layer("a", name="twin", unique_name="twin", outputs=["a"]),
            layer("b", name="twin", unique_name="twin_1", outputs=["b"]),
            layer("y", name="", unique_name="node", outputs=["y"]),
            layer("if_1", "If"),
            layer("if_1/then/act", scope=("if_1", "then"), outputs=["t"]),
            layer("if_1/else/act", scope=("if_1", "else"), outputs=["e"]),
            layer("loop", "Loop"),
            layer("loop/body/neg", "Neg", scope=("loop", "body")),
            layer("loop/body/if_2", "If", scope=("loop", "body")),
            layer("loop/body/if_2/then/exp", "Exp", scope=("loop", "body", "if_2", "then")),
        ],
    }


def kernel(name: str, start: float, span: float, layers: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    """A kernel of the timeline."""
    row = {"name": name, "op": "Relu", "layers": list(layers), "bucket": None, "start_ms": start, "ms": span}
    return row | {"span_ms": span, "container": None} | more


def profile() -> dict[str, Any]:
    """Times of all layers of the inspection, and one run with a reorder and a loop of two rounds."""
    rows = [
        {
            "id": row["id"],
            "group": row["id"],
            "op": row["op"],
            "ms": 0.25 * position,
            "share": 0.125,
            "macs": 1_000_000 if row["op"] == "Conv" else 0,
            "bytes": 4_096,
            "limited_by": "memory",
            "executes_as": row["op"],
            "runs": 2 if "body" in row["id"] else 1,
            "precision": "fp32",
            "intensity": None,
            "gflops": 12.5,
            "attained": 0.5,
        }
        for position, row in enumerate(inspection()["layers"])
    ]
    kernels = [
        kernel("reorder", 0.0, 0.1, bucket="reorder", op="ReorderInput"),
        kernel("conv_fused", 0.1, 0.5, ("conv", ODD), op="FusedConv"),
        kernel("", 0.7, 0.05, ("y",)),
        kernel("loop_1", 0.8, 1.1, ("loop",), op="Loop", ms=0.3),
        kernel("neg", 0.9, 0.4, ("loop/body/neg",), container="loop"),
        kernel("neg", 1.5, 0.4000000001, ("loop/body/neg",), container="loop"),
    ]
    return {
        "wall_ms": {"median": 1.5, "mean": 1.6, "ci95": [1.4, 1.7], "p95": 2.0, "basis": "wall"},
        "kernel_ms": 1.9,
        "gap_ms": 0.1,
        "layers": rows,
        "timeline": {"ms": 2.0, "kernels": kernels, "omitted": 0},
        "memory": {
            "activation_peak_bytes": 2_048,
            "steps": [{"layer": "conv", "bytes": 1_024}, {"layer": ODD, "bytes": 2_048}, {"layer": "y", "bytes": 512}],
        },
        "conditions": {
            "cpu": "a cpu",
            "cores": 2,
            "threads": 1,
            "batch": 1,
            "onnxruntime": "1.32",
            "provider": "CPUExecutionProvider",
            "seed": 0,
            "load_average": 0.5,
            "time": "2026-12-01T00:00:00Z",
        },
        "mixdesk": "0.4.0",
    }
