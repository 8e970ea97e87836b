"""A layer's node in the file is told from all others, or is said to be one of several."""

from __future__ import annotations

from core.report.file_nodes import file_nodes, unique_names
from tests.report.profiles import inspection, profile


def test_names_of_their_own_are_those_that_no_other_graph_repeats() -> None:
    nodes = {node.row["id"]: node for node in file_nodes(profile(), inspection())}
    assert nodes["conv"].own_name
    assert not nodes["a"].own_name
    assert not nodes["y"].own_name
    assert not nodes["if_1/then/act"].own_name
    assert nodes["loop/body/neg"].scope == ("loop", "body")


def test_a_value_that_two_branches_write_tells_nothing() -> None:
    known = inspection()
    known["layers"][6]["outputs"] = known["layers"][7]["outputs"] = ["", "same"]
    nodes = {node.row["id"]: node for node in file_nodes(profile(), known)}
    assert nodes["if_1/then/act"].output == nodes["if_1/else/act"].output == ""
    assert nodes["y"].output == "y"


def test_layers_that_the_file_does_not_hold_are_left_out() -> None:
    known = inspection()
    del known["layers"][0]
    assert "conv" not in {node.row["id"] for node in file_nodes(profile(), known)}
    assert unique_names(known)["b"] == "twin_1"
