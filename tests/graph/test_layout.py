from __future__ import annotations

import json
import time

import pytest

from core.graph import layout as layout_module
from core.graph.layer import Group, Layer, LayerTable
from core.graph.layout import lay_out
from core.graph.read import read_layers
from tests.intake.test_names import IF_MODEL
from tests.intake.texts import load


def table(count: int, edges: list[tuple[int, int]]) -> LayerTable:
    layers = tuple(
        Layer(str(n), n, "Relu", "", str(n), (), (), (), (), (), (), "float32", 0, 0, None, 0) for n in range(count)
    )
    groups = tuple(Group(layer.id, layer.id, "other", (layer.id,)) for layer in layers)
    return LayerTable(layers, groups, tuple((str(source), str(target)) for source, target in edges))


def dense(count: int) -> LayerTable:
    """A chain in which every layer also feeds the one seven steps on."""
    return table(count, [(n, m) for n in range(count) for m in (n + 1, n + 7) if m < count])


def test_an_empty_graph_has_an_empty_layout() -> None:
    assert lay_out(table(0, [])).to_dict() == {"nodes": [], "edges": [], "width": 0.0, "height": 0.0}


def test_a_chain_runs_from_left_to_right_one_apart() -> None:
    found = lay_out(table(3, [(0, 1), (1, 2)]))
    assert found.positions == {"0": (0.0, 0.0), "1": (1.0, 0.0), "2": (2.0, 0.0)}
    assert (found.width, found.height) == (2.0, 0.0)


@pytest.mark.parametrize("limit", [0, 10_000])
def test_both_methods_send_every_edge_right_and_separate_all_layers(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout_module, "SUGIYAMA_LAYERS", limit)
    found = lay_out(dense(60))
    assert all(found.positions[source][0] < found.positions[target][0] for source, target in found.edges)
    assert len(set(found.positions.values())) == 60
    assert lay_out(dense(60)) == found


def test_bodies_stand_beneath_their_container_without_overlap() -> None:
    positions = lay_out(read_layers(load(IF_MODEL))).positions
    assert positions["pick/then/act"][1] > positions["pick"][1]
    assert positions["pick/else/act"][1] > positions["pick/then/act"][1]


def test_a_layout_is_json() -> None:
    document = json.loads(json.dumps(lay_out(dense(5)).to_dict()))
    assert document["nodes"][0] == {"layer": "0", "x": 0.0, "y": document["nodes"][0]["y"]}
    assert document["edges"][0] == ["0", "1"]


@pytest.mark.xdist_group("timing")
def test_many_layers_take_about_as_long_per_layer_as_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout_module, "SUGIYAMA_LAYERS", 0)

    def seconds(count: int) -> float:
        given = dense(count)
        start = time.process_time()
        lay_out(given)
        return time.process_time() - start

    few, many = min(seconds(250) for _ in range(3)), min(seconds(2000) for _ in range(3))
    assert many < 5 * 8 * few
