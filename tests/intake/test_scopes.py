from __future__ import annotations

from core.intake.scopes import bodies, layer_id, walk_graphs, walk_scopes
from tests.intake.test_names import IF_MODEL
from tests.intake.texts import load


def test_bodies_come_right_after_their_container_with_short_labels() -> None:
    graph = load(IF_MODEL).ir.graph
    assert [label for label, _ in bodies(graph[0])] == ["then", "else"]
    assert [scope for scope, _ in walk_scopes(graph)] == [(), ("pick", "then"), ("pick", "else")]
    assert [inner.name for inner in walk_graphs(graph)] == ["g", "t", "e"]


def test_an_id_is_scope_and_name() -> None:
    assert layer_id((), "a") == "a"
    assert layer_id(("if_1", "then"), "a") == "if_1/then/a"
