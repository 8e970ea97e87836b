"""convert_model and build_model ask for the right job; what is built can be found again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import onnx
import pytest

from core import Recipe, Rule, build_model, convert_model, inspect_model, list_candidates, load_candidate
from core.errors import NotFoundError, RecipeError, RequestError
from core.recipe.precision import Precision
from core.store.workspace import Workspace
from tests.api.conftest import Noted

RULES = {"version": 1, "rules": [{"match": "op:Conv", "precision": "int8", "options": {}, "why": ""}]}


def test_a_conversion_is_an_optimize_job_with_all_that_was_asked(noted: Noted, network: onnx.ModelProto) -> None:
    mixed = convert_model(
        network,
        precision="int8",
        target="sqnr>=30",
        dynamic_graph=True,
        cache_strategy="auto",
        pins={"conv": "fp32"},
        outputs=["y"],
        time_budget_s=5,
        threads=2,
    )
    kind, params, title = noted.asked[0]
    assert (kind, title, mixed.id) == ("optimize", "Optimize network", "abcdef")
    asked = {"precision": "int8", "target": "sqnr>=30", "dynamic_graph": True, "cache": "auto", "objective": "latency"}
    assert {name: params[name] for name in asked} == asked
    assert params["pins"] == {"conv": "fp32"}
    assert params["outputs"] == {"y": 1.0}
    assert (params["time_budget_s"], params["threads"]) == (5, 2)


def test_what_was_not_said_is_left_to_the_task(noted: Noted, network: onnx.ModelProto) -> None:
    convert_model(network)
    assert noted.params["precision"] == "mixed"
    assert not {"target", "time_budget_s", "name", "outputs"} & set(noted.params)


def test_the_workspace_is_that_of_the_command_line_unless_one_is_given(
    noted: Noted, network: onnx.ModelProto, workspace_path: Path, tmp_path: Path
) -> None:
    convert_model(network)
    assert (workspace_path / "mixdesk.db").is_file()
    convert_model(network, workspace=tmp_path / "other")
    assert (tmp_path / "other" / "mixdesk.db").is_file()


@pytest.mark.parametrize("form", ["recipe", "mapping", "file", "result"])
def test_a_recipe_is_taken_in_every_form(noted: Noted, network: onnx.ModelProto, tmp_path: Path, form: str) -> None:
    path = tmp_path / "convs.json"
    path.write_text(json.dumps({"recipe": RULES, "made_for": {"layers": []}} if form == "result" else RULES))
    recipe: Any = {"recipe": Recipe(rules=(Rule("op:Conv", Precision.INT8),)), "mapping": RULES}.get(form, path)
    build_model(network, recipe, pins={"head": "fp32"}, measure=False)
    assert noted.asked[0][0] == "build"
    assert noted.params["recipe"]["rules"] == RULES["rules"]
    assert ("made_for" in noted.params["recipe"]) is (form == "result")
    assert noted.params["pins"] == {"head": "fp32"}
    assert noted.params.get("name") == ("convs" if form in {"file", "result"} else None)


def test_one_precision_is_a_recipe(noted: Noted, network: onnx.ModelProto) -> None:
    build_model(network, precision="int8")
    assert [rule["match"] for rule in noted.params["recipe"]["rules"]] == ["*"]


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({}, RequestError),
        ({"recipe": RULES, "precision": "int8"}, RequestError),
        ({"precision": "int9"}, RecipeError),
        ({"recipe": {"version": 1}}, RecipeError),
        ({"recipe": "nowhere.json"}, NotFoundError),
    ],
)
def test_a_recipe_that_is_none_is_refused_before_any_job(
    noted: Noted, network: onnx.ModelProto, asked: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        build_model(network, **asked)
    assert not noted.asked


def test_what_was_built_is_found_again(here: Path, network: onnx.ModelProto, arrays: dict[str, Any]) -> None:
    built = build_model(network, precision="int8", data=arrays, measure=False, name="small")
    found = load_candidate(built.id[:8])
    assert (found.id, found.document["file"]) == (built.id, built.document["file"])
    assert [mixed.id for mixed in list_candidates(network)] == [built.id]
    assert [mixed.name for mixed in list_candidates(workspace=Workspace.open(here))] == ["small"]
    with pytest.raises(NotFoundError):
        load_candidate("000000")


def test_a_recipe_goes_over_to_a_retrained_model(
    here: Path, network: onnx.ModelProto, arrays: dict[str, Any], tmp_path: Path
) -> None:
    first = build_model(network, precision="int8", pins={"conv": "fp32"}, data=arrays, measure=False)
    first.save(tmp_path / "recipe.json")
    again = onnx.ModelProto.FromString(network.SerializeToString())
    weights = onnx.numpy_helper.to_array(again.graph.initializer[1])
    again.graph.initializer[1].CopyFrom(onnx.numpy_helper.from_array(weights * 1.5, "v"))
    same = build_model(again, tmp_path / "recipe.json", data=arrays, measure=False)
    assert list(same.differences["what"]) == []
    assert same.layers["produced"].to_dict() == first.layers["produced"].to_dict()
    again.graph.node[0].name = "stem"
    renamed = build_model(again, tmp_path / "recipe.json", data=arrays, measure=False)
    assert renamed.differences[["layer", "what"]].values.tolist() == [["conv", "renamed"]]
    assert renamed.layers.loc["stem", "produced"] == "fp32"
    with pytest.raises(RecipeError, match="conv"):
        build_model(again, Recipe(rules=(Rule("layer:conv", Precision.INT8),)), data=arrays, measure=False)


def test_an_option_that_nobody_knows_is_refused_with_the_nearest(noted: Noted, network: onnx.ModelProto) -> None:
    with pytest.raises(RequestError, match=r"no option 'thread' here\. Did you mean 'threads'"):
        convert_model(network, thread=2)  # type: ignore[call-arg]
    with pytest.raises(RequestError, match="no option 'outputs'"):
        inspect_model(network, outputs="y")
    assert not noted.asked
