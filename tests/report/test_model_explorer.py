"""Node data for Model Explorer: its schema, and the ids of its ONNX adapter."""

from __future__ import annotations

import json
import re
from typing import Any

from core.report.model_explorer import node_data
from tests.report.profiles import ODD, inspection, profile


def data(graph: str = "main_graph") -> dict[str, Any]:
    told: dict[str, Any] = json.loads(json.dumps(node_data(profile(), inspection(graph))))
    check(told)
    return told


def check(told: dict[str, Any]) -> None:
    """`NodeDataProviderData` of google-ai-edge/model-explorer (src/ui/.../common/types.ts)."""
    for graph_id, graph in told.items():
        assert graph_id
        assert set(graph) == {"name", "results", "gradient"}
        assert isinstance(graph["name"], str)
        for node_id, result in graph["results"].items():
            assert node_id
            assert set(result) == {"value"}
            assert isinstance(result["value"], (int, float))
        stops = [item["stop"] for item in graph["gradient"]]
        assert (stops[0], stops[-1]) == (0, 1)
        assert stops == sorted(stops)
        assert all(re.fullmatch(r"#[0-9a-f]{6}", item["bgColor"]) for item in graph["gradient"])


def test_a_node_is_known_by_its_name_and_repeated_ones_by_their_number() -> None:
    results = data()["main_graph"]["results"]
    assert results["conv"] == {"value": 0.0}
    assert results[ODD] == {"value": 0.25}
    assert (results["twin"]["value"], results["twin_1"]["value"], results["node"]["value"]) == (0.5, 0.75, 1.0)


def test_branches_are_drawn_inside_their_graph_and_loops_are_graphs() -> None:
    told = data()
    assert set(told) == {"main_graph", "loop/body"}
    assert {"if_1/then_branch/act", "if_1/else_branch/act", "loop"} <= set(told["main_graph"]["results"])
    assert set(told["loop/body"]["results"]) == {"neg", "if_2", "if_2/then_branch/exp"}


def test_a_graph_without_a_name_is_the_main_one() -> None:
    assert set(data("")) == {"<main>", "loop/body"}


def test_layers_without_a_time_have_no_data() -> None:
    document = profile()
    document["layers"][0]["ms"] = None
    assert "conv" not in node_data(document, inspection())["main_graph"]["results"]
