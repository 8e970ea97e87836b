"""Every document can be read in a terminal: the figures that matter are there, with units, whatever names hold."""

from __future__ import annotations

import importlib
import io
from collections.abc import Mapping
from typing import Any

import pytest
from rich.console import Console

from core.cli.reports import parts
from core.cli.results import COMMANDS

pytestmark = pytest.mark.xdist_group("timing")

#: Kind of work -> what its report must say of digits-cnn.
SAYS = {
    "inspect": ("2.78 M", "opset", "Conv 12", "image", "No findings."),
    "machine": ("Conv", "executed", "QLinearConv"),
    "profile": ("per run", "at the peak: activations ", "/stage3/stage3.0/conv2/Conv", "µs", "labelled"),
    "sweep": ("samples/s", "95th percentile", "sweet spot", "told before", "cores"),
    "build": ("Built", "MB", "int8", "SQNR", "Verdict"),
    "optimize": ("latency", "->", "target", "sqnr>=1", "conditions"),
    "compare": ("Verdict", "gate", "sqnr>=1: met", "latency"),
    "verify": ("agree", "hashes", "speed-up", "SQNR", "layers as reported", "now"),
}


def _told(kind: str, document: Mapping[str, Any]) -> str:
    report = importlib.import_module(f"core.cli.reports.{kind}").report
    screen = io.StringIO()
    report(document, Console(file=screen, width=200, highlight=False))
    return screen.getvalue()


def test_every_command_has_a_report() -> None:
    assert set(SAYS) == COMMANDS


@pytest.mark.parametrize("kind", SAYS)
def test_a_real_document_is_told(documents: Mapping[str, Any], kind: str) -> None:
    told = _told(kind, documents[kind])
    for text in SAYS[kind]:
        assert text in told


def test_synthetic_data_is_said_loudly(documents: Mapping[str, Any]) -> None:
    profile = documents["profile"]
    told = _told("profile", {**profile, "data": {**profile["data"], "synthetic": True}})
    assert "SYNTHETIC" in told


def test_what_was_not_measured_says_so(documents: Mapping[str, Any]) -> None:
    told = _told("build", {**documents["build"], "conversions": {"count": 6, "ms": None}, "comparison": None})
    assert "6 (their time was not measured)" in told
    unlabelled = {**documents["compare"]["accuracy"], "before": None, "why": "the labels are not classes"}
    assert "not measured: the labels are not classes" in _told(
        "compare", {**documents["compare"], "accuracy": unlabelled}
    )


def test_names_with_markup_are_told_as_they_are(documents: Mapping[str, Any]) -> None:
    document = documents["profile"]
    layer = {**document["layers"][0], "id": "[bold]x[/nope]", "ms": 1.0}
    assert "[bold]x[/nope]" in _told("profile", {**document, "layers": [layer]})


def test_an_unchanged_model_is_told_as_unchanged_with_the_reason(documents: Mapping[str, Any]) -> None:
    told = _told("optimize", {**documents["optimize"], "unchanged": True, "why": "Nothing was faster."})
    assert told.startswith("Unchanged")
    assert "Nothing was faster." in told


def test_a_gate_that_is_not_met_names_what_broke(documents: Mapping[str, Any]) -> None:
    gate = {"text": "sqnr>=99", "met": False, "broken": ["sqnr>=99"], "each": []}
    assert "sqnr>=99: NOT met, broken: sqnr>=99" in _told("compare", {**documents["compare"], "gate": gate})


def test_layers_that_are_not_what_was_asked_are_told_with_the_reason() -> None:
    same = {"id": "a", "requested": "int8", "produced": "int8", "executed": "int8", "why": ""}
    other = {
        "id": "b",
        "requested": "int8",
        "produced": "fp32",
        "executed": "fp32",
        "why": "Softmax has no int8 kernel",
    }
    screen = io.StringIO()
    parts.not_as_asked(Console(file=screen, width=200), [same, other, {**other, "id": "c"}])
    told = screen.getvalue()
    assert "2 layers are not what was asked" in told
    assert "b, c" in told
    assert "Softmax has no int8 kernel" in told
    screen = io.StringIO()
    folded = {"id": "relu", "requested": "fp32", "produced": "fp32", "executed": "folded", "why": "asked so"}
    parts.not_as_asked(Console(file=screen, width=200), [same, other, folded])
    assert "1 layer is not what was asked" in screen.getvalue()
    assert "relu" not in screen.getvalue()
    screen = io.StringIO()
    drawn = {
        "id": "flat",
        "op": "Reshape",
        "requested": "fp32",
        "produced": "fp32",
        "executed": "int8",
        "why": "asked so",
    }
    parts.not_as_asked(Console(file=screen, width=200), [drawn])
    assert "placed as fp32; the runtime moves the 8-bit codes through it (asked so)" in screen.getvalue()
    screen = io.StringIO()
    parts.not_as_asked(Console(file=screen), [same])
    assert screen.getvalue() == "Every layer is what was asked.\n"


def test_many_layers_with_one_reason_are_counted() -> None:
    layers = [
        {"id": f"l{n}", "requested": "int8", "produced": "fp32", "executed": "fp32", "why": "no kernel"}
        for n in range(9)
    ]
    screen = io.StringIO()
    parts.not_as_asked(Console(file=screen, width=200), layers)
    assert "l0, l1, l2 and 6 more" in screen.getvalue()
