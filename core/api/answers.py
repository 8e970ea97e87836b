"""Answers: the documents of the command line as Python values: figures as mappings, rows as pandas frames.

Every answer has the whole JSON `document`, which docs/cli.md describes, and a `summary()` for reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from core.api.exports import write_json, write_text
from core.api.frames import frame
from core.report import quantities
from core.report.lines import conditions_line, data_line

Document = Mapping[str, Any]


class Answer:
    """A document with the conditions it was made under."""

    def __init__(self, document: Document) -> None:
        self.document = dict(document)

    @property
    def conditions(self) -> dict[str, Any]:
        """Machine, versions, threads, batch, seed, load and time."""
        return dict(self.document["conditions"])

    def summary(self) -> str:
        """The answer in a few lines of text."""
        return "\n".join(f"{name:<11}{text}" for name, text in self._lines())

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}\n{self.summary()}\n>"

    def _lines(self) -> list[tuple[str, str]]:
        return [("conditions", conditions_line(self.document["conditions"]))]


class Inspection(Answer):
    """What a model holds and what is wrong with it."""

    @property
    def model(self) -> dict[str, Any]:
        """Name, hash, sizes, counts, inputs and outputs."""
        return dict(self.document["model"])

    @property
    def layers(self) -> pd.DataFrame:
        """One row per layer, by its id: op, group, shapes, parameters, weight_bytes, macs."""
        return frame(self.document["layers"], index="id")

    @property
    def groups(self) -> pd.DataFrame:
        """One row per group, by its id: the layers that share one precision."""
        return frame(self.document["groups"], index="id")

    @property
    def findings(self) -> pd.DataFrame:
        """Severity, message and hint of everything that was found, worst first."""
        return frame(self.document["findings"], columns=("severity", "message", "hint"))

    @property
    def repairs(self) -> pd.DataFrame:
        """What was mended while reading, why, and how often."""
        return frame(self.document["repairs"], columns=("what", "why", "count"))

    @property
    def ops(self) -> pd.Series[int]:
        """Operator -> how many layers, most frequent first."""
        return pd.Series(self.document["ops"], dtype="int64", name="layers").sort_values(ascending=False)

    def _lines(self) -> list[tuple[str, str]]:
        model = self.model
        holds = quantities.NOT_KNOWN  # of a graph that cannot be read
        if model["layer_count"] is not None:
            counted = f"{model['layer_count']} layers in {model['group_count']} groups"
            weights = quantities.size(model["weight_bytes"])
            sizes = f"{quantities.count(model['parameters'])} parameters, {weights} of weights"
            holds = f"{counted}, {sizes}, {quantities.count(model['macs'], 'MAC')}"
        found = [f"{row['severity']}: {row['message']}" for row in self.document["findings"]]
        return [
            ("model", f"{model['name']}, {quantities.size(model['bytes'])}, opset {model['opset']}"),
            ("holds", holds),
            *(("inputs", f"{given['name']}: {given['dtype']} {_shape(given['shape'])}") for given in model["inputs"]),
            *(("outputs", f"{out['name']}: {out['dtype']} {_shape(out['shape'])}") for out in model["outputs"]),
            *(("found", text) for text in found),
        ]


class Profile(Answer):
    """Where the time goes, layer by layer."""

    @property
    def layers(self) -> pd.DataFrame:
        """One row per layer, by its id: op, group, ms per run, share, macs, bytes, precision, gflops and more."""
        return frame(self.document["layers"], index="id")

    @property
    def wall_ms(self) -> dict[str, Any]:
        """Milliseconds of one plain run: median, mean, ci95, p95."""
        return dict(self.document["wall_ms"])

    @property
    def buckets(self) -> dict[str, float]:
        """Milliseconds that belong to no layer: reorder, quantize, cast, copy, unattributed."""
        return dict(self.document["buckets"])

    @property
    def memory(self) -> dict[str, Any]:
        """Peaks in bytes."""
        return dict(self.document["memory"])

    @property
    def advice(self) -> pd.DataFrame:
        """Rule, evidence, consequence and remedy of what stands out, its layers, and the change (None: by hand)."""
        columns = ("rule", "evidence", "consequence", "remedy", "layers", "change")
        return frame(self.document["advice"], columns=columns)

    @property
    def growth(self) -> pd.DataFrame:
        """Milliseconds of each layer (rows, by id) at each named shape (columns), and `exponent`; empty without any."""
        growth = self.document.get("growth") or {"points": [], "layers": []}
        names = [point["name"] for point in growth["points"]]
        rows = [
            {"id": row["id"], **dict(zip(names, row["ms"], strict=True)), "exponent": row["exponent"]}
            for row in growth["layers"]
        ]
        return frame(rows, columns=("id", *names, "exponent"), index="id")

    def save_csv(self, path: str | Path) -> Path:
        """Writes the layers as a table, figures unrounded, units in the header."""
        from core.report.layer_csv import document_csv  # noqa: PLC0415 - only a reader needs it

        return write_text(path, document_csv(self.document), ending=".csv")

    def save_trace(self, path: str | Path, *, name: str = "") -> Path:
        """Writes one run for ui.perfetto.dev and chrome://tracing; `name` is the model's."""
        from core.report.trace import trace_events  # noqa: PLC0415 - only a reader needs it

        return write_json(path, trace_events(self.document, name=name))

    def save_netron(self, path: str | Path, inspection: Inspection) -> Path:
        """Writes the layers' figures for Netron: open the model there, then this file."""
        from core.report.netron_attachment import netron_attachment  # noqa: PLC0415 - only a reader needs it

        return write_json(path, netron_attachment(self.document, inspection.document))

    def save_model_explorer(self, path: str | Path, inspection: Inspection) -> Path:
        """Writes the layers' times as node data for Model Explorer with its ONNX adapter."""
        from core.report.model_explorer import node_data  # noqa: PLC0415 - only a reader needs it

        return write_json(path, node_data(self.document, inspection.document))

    def _lines(self) -> list[tuple[str, str]]:
        wall = self.wall_ms
        slowest = sorted(self.document["layers"], key=lambda row: -(row["ms"] or 0.0))[:5]
        median, range_ms = quantities.time_ms(wall["median"]), quantities.time_range(wall["ci95"])
        return [
            ("one run", f"{median} median, mean in {range_ms} (95 % interval)"),
            ("attributed", f"{quantities.share(self.document['attributed_share'])} of the kernels' time"),
            *(("slowest", f"{row['id']} ({row['op']}): {_time_of(row)}") for row in slowest),
            *(("advice", f"{row['evidence']} {row['remedy']}") for row in self.document["advice"]),
            ("data", data_line(self.document.get("data"))),
            *super()._lines(),
        ]


class Comparison(Answer):
    """One model measured against another on the same samples; ratios above 1 are better."""

    @property
    def speedup(self) -> dict[str, Any]:
        """Ratio of the latencies with its ci95, before_ms, after_ms, and how it was measured."""
        return dict(self.document["latency"])

    @property
    def ratio(self) -> dict[str, Any]:
        """Ratios of latency (value and ci95), p95, throughput, size and memory."""
        return dict(self.document["ratio"])

    @property
    def fidelity(self) -> dict[str, Any]:
        """SQNR in dB, cosine, KL divergence, agreement."""
        return dict(self.document["fidelity"])

    @property
    def accuracy(self) -> dict[str, Any] | None:
        """Metric before and after with the interval of the change; `before` is None without labels."""
        accuracy: dict[str, Any] | None = self.document["accuracy"]
        return accuracy

    @property
    def verdict(self) -> str:
        """better, no difference seen, worse, or too noisy."""
        return str(self.document["verdict"])

    @property
    def gate(self) -> dict[str, Any] | None:
        """The target: text, met, broken; None without one."""
        gate: dict[str, Any] | None = self.document["gate"]
        return gate

    def summary(self) -> str:
        """Verdict, ratios with intervals, fidelity, accuracy and conditions."""
        from core.report.summary import summarize  # noqa: PLC0415 - only a reader needs it

        return summarize(self.document)


class Machine(Answer):
    """What this machine is, what it executes, and how fast it can be."""

    @property
    def machine(self) -> dict[str, Any]:
        """Its id, CPU, cores, features, system and versions."""
        return dict(self.document["machine"])

    @property
    def capability(self) -> pd.DataFrame:
        """One row per operator and precision: state (executed, emulated, ...), measured speedup with ci95, why."""
        return frame(self.document["capability"])

    @property
    def roofline(self) -> dict[str, Any]:
        """Its highest speeds: `gflops` by precision, `gbytes_per_s` of memory, `caches`, and what reached them."""
        return dict(self.document["roofline"])

    def _lines(self) -> list[tuple[str, str]]:
        rows = self.document["capability"]
        peaks = [f"{name} {value:.3g} GFLOP/s" for name, value in self.roofline["gflops"].items()]
        states = {state: sum(row["state"] == state for row in rows) for state in sorted({row["state"] for row in rows})}
        return [
            ("machine", f"{self.machine['cpu']}, {self.machine['cores']} cores"),
            ("capability", ", ".join(f"{count} {state}" for state, count in states.items()) or "nothing probed"),
            ("highest speeds", ", ".join((*peaks, f"memory {self.roofline['gbytes_per_s']:.3g} GB/s"))),
            *super()._lines(),
        ]


class Verification(Answer):
    """Whether a bundle's figures hold here."""

    @property
    def agrees(self) -> bool | None:
        """Whether fidelity, accuracy and speed are what the bundle says; None where that could not be measured."""
        agrees: bool | None = self.document["agrees"]
        return agrees

    @property
    def differences(self) -> list[Any]:
        """What differs, and by how much."""
        return list(self.document["differences"])

    def _lines(self) -> list[tuple[str, str]]:
        agrees = {True: "agrees", False: "does not agree", None: "could not be judged"}[self.agrees]
        return [
            ("bundle", agrees),
            ("hashes", str(self.document["hashes"])),
            *(("difference", _told(row)) for row in self.differences),
            *super()._lines(),
        ]


def _shape(shape: list[int | str] | None) -> str:
    return "of unknown rank" if shape is None else quantities.shape(shape)


def _told(row: str | Mapping[str, Any]) -> str:
    return row if isinstance(row, str) else "; ".join(f"{name}: {value}" for name, value in row.items())


def _time_of(row: Mapping[str, Any]) -> str:
    return f"{quantities.time_ms(row['ms'])}, {quantities.share(row['share'])}"
