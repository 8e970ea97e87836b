"""The attachment is what Netron reads; figures stand only where Netron can tell the node from all others."""

from __future__ import annotations

import json
from typing import Any

from core.report.netron_attachment import netron_attachment
from dashboard.graph_viewer import netron_folder
from tests.report.profiles import ODD, inspection, layer, profile


def attachment(known: dict[str, Any] | None = None) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(json.dumps(netron_attachment(profile(), known or inspection())))
    check(told)
    return told


def check(told: dict[str, Any]) -> None:
    assert set(told) == {"signature", "metadata", "metrics"}
    assert told["signature"] == "netron:attachment"
    for metric in (*told["metadata"], *told["metrics"]):
        assert set(metric) == {"kind", "target", "name", "value"}
        assert metric["kind"] in ("model", "node", "value")
        assert all(isinstance(value, str) for value in metric.values())
        assert metric["name"]
        assert metric["value"]
    told_once = [(metric["kind"], metric["target"], metric["name"]) for metric in told["metrics"]]
    assert len(set(told_once)) == len(told_once)


def figures(told: dict[str, Any], kind: str, target: str) -> dict[str, str]:
    return {
        metric["name"]: metric["value"]
        for metric in told["metrics"]
        if (metric["kind"], metric["target"]) == (kind, target)
    }


def test_a_node_with_a_name_of_its_own_has_its_figures() -> None:
    told = figures(attachment(), "node", ODD)
    assert told["time"] == "0.250 ms"
    assert (told["share of time"], told["MACs"], told["bytes moved"]) == ("12.5 %", "1.00 M", "4.10 KB")
    assert (told["bound by"], told["precision"], told["GFLOP/s"]) == ("memory", "fp32", "12.5")
    assert "FLOP per byte" not in told  # not known
    assert figures(attachment(), "node", "neg")["runs"] == "2.00"


def test_nodes_that_share_a_name_or_have_none_are_told_by_what_they_write() -> None:
    told = attachment()
    assert figures(told, "node", "twin") == figures(told, "node", "") == {}
    assert figures(told, "value", "a")["time"] == "0.500 ms"
    assert figures(told, "value", "b")["time"] == "0.750 ms"
    assert figures(told, "value", "y")["time"] == "1.00 ms"
    assert figures(told, "node", "act") == {}  # in both branches
    assert figures(told, "value", "t")["time"] != figures(told, "value", "e")["time"]


def test_a_name_counts_up_to_its_first_line_break() -> None:
    known = inspection()
    known["layers"][0] = layer("conv", "Conv", name="one\ntwo")
    assert figures(attachment(known), "node", "one")["time"] == "0 ms"
    known["layers"][1] = layer(ODD, "Conv", name="one\nthree")
    assert figures(attachment(known), "node", "one") == {}
    assert figures(attachment(known), "value", f"{ODD}_out")["time"] == "0.250 ms"


def test_the_model_has_its_latency() -> None:
    told = figures(attachment(), "model", "")
    assert (told["latency"], told["activation peak"]) == ("1.50 ms", "2.05 KB")
    assert "threads 1, batch 1" in told["measured"]


def test_an_old_inspection_is_read_by_its_ids() -> None:
    known = inspection()
    for row in known["layers"]:
        del row["name"], row["unique_name"]
    assert figures(attachment(known), "node", "conv")
    assert figures(attachment(known), "node", "act") == {}


def test_netron_still_reads_this_format() -> None:
    source = (netron_folder() / "view.js").read_text(encoding="utf-8")
    for part in ("'netron:attachment'", "`${item.kind}::${item.target}`", ".split('\\n').shift()"):
        assert part in source
