"""`mixdesk build` asks for the right job, writes the file, and its status tells whether the gate was met."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from core.store.workspace import Workspace
from tests.cli.conftest import NotedJobs
from tests.cli.running import Terminal

BUILT = b"a built model"


@pytest.fixture
def built(noted: NotedJobs) -> NotedJobs:
    """Jobs that answer with a built model."""
    noted.on_run = _put
    noted.result = {"output": None, "file": hashlib.sha256(BUILT).hexdigest(), "comparison": None}
    return noted


def _put(workspace: Workspace) -> None:
    workspace.files.put(BUILT)


def _rules(jobs: NotedJobs) -> list[tuple[str, str]]:
    return [(rule["match"], rule["precision"]) for rule in jobs.params["recipe"]["rules"]]


def test_one_precision_is_one_rule_for_everything(mixdesk: Terminal, built: NotedJobs, tiny: Path) -> None:
    assert mixdesk("build", str(tiny), "--precision", "int8", "--threads", "2", "--json").status == 0
    assert built.asked[0][0] == "build"
    assert _rules(built) == [("*", "int8")]
    assert built.params["model"] == hashlib.sha256(tiny.read_bytes()).hexdigest()
    assert (built.params["threads"], built.params["batch"], built.params["measure"]) == (2, 1, True)
    assert built.params["data"] is None


def test_pins_are_told_apart_from_the_rules(mixdesk: Terminal, built: NotedJobs, tiny: Path) -> None:
    mixdesk("build", str(tiny), "--precision", "int8", "--pin", "a=fp32", "--pin", "b=c=int8", "--json")
    assert _rules(built) == [("*", "int8")]
    assert built.params["pins"] == {"a": "fp32", "b=c": "int8"}


@pytest.mark.parametrize(("flag", "strict"), [("--strict", True), ("--no-strict", False), (None, None)])
def test_rules_without_a_layer_may_be_refused_or_dropped(
    *, mixdesk: Terminal, built: NotedJobs, tiny: Path, flag: str | None, strict: bool | None
) -> None:
    mixdesk("build", str(tiny), "--precision", "int8", *([] if flag is None else [flag]), "--json")
    assert built.params["strict"] is strict


def test_a_recipe_file_is_read(mixdesk: Terminal, built: NotedJobs, tiny: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "convs.json"
    recipe.write_text(json.dumps({"version": 1, "rules": [{"match": "op:MatMul", "precision": "int8"}]}))
    assert mixdesk("build", str(tiny), "--recipe", str(recipe), "--json").status == 0
    assert _rules(built) == [("op:MatMul", "int8")]
    assert built.params["name"] == "convs"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "is not JSON"),
        ("[]", "This is not a recipe."),
        ('{"version": 9, "rules": []}', "version"),
        ('{"version": 1, "rules": [{"match": "conv1", "precision": "int8"}]}', "cannot match 'conv1'"),
        ('{"version": 1, "rules": [{"match": "*", "precision": "int9"}]}', "Did you mean 'int8'?"),
        ('{"version": 1, "rules": [{"match": "name:(", "precision": "int8"}]}', "not a regular expression"),
    ],
)
def test_a_recipe_that_cannot_be_read_is_status_2(
    *, mixdesk: Terminal, built: NotedJobs, tiny: Path, tmp_path: Path, text: str, says: str
) -> None:
    recipe = tmp_path / "recipe.json"
    recipe.write_text(text)
    answer = mixdesk("build", str(tiny), "--recipe", str(recipe), "--json")
    assert answer.status == 2
    assert says in answer.error["message"]
    assert not built.asked


def test_a_missing_recipe_is_named(mixdesk: Terminal, tiny: Path) -> None:
    answer = mixdesk("build", str(tiny), "--recipe", "nowhere.json", "--json")
    assert (answer.status, answer.error["kind"]) == (2, "not-found")


def test_the_built_model_is_written(mixdesk: Terminal, built: NotedJobs, tiny: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    answer = mixdesk("build", str(tiny), "--precision", "int8", "-o", str(out), "--json")
    assert out.read_bytes() == BUILT
    assert answer.document["output"] == str(out)


def test_the_input_is_never_overwritten(mixdesk: Terminal, built: NotedJobs, tiny: Path) -> None:
    before = tiny.read_bytes()
    answer = mixdesk("build", str(tiny), "--precision", "int8", "-o", str(tiny), "--json")
    assert answer.status == 2
    assert "is not overwritten" in answer.error["message"]
    assert tiny.read_bytes() == before
    assert not built.asked


@pytest.mark.parametrize(("met", "status"), [(True, 0), (False, 1)])
def test_the_status_tells_whether_the_target_is_met(
    *, mixdesk: Terminal, built: NotedJobs, tiny: Path, tmp_path: Path, met: bool, status: int
) -> None:
    gate: dict[str, Any] = {"text": "sqnr>=30", "met": met, "broken": None}
    built.result |= {"comparison": {"gate": gate}}
    out = tmp_path / "out.onnx"
    arguments = ("--precision", "int8", "--target", "sqnr>=30", "-o", str(out), "--json")
    assert mixdesk("build", str(tiny), *arguments).status == status
    assert built.params["target"] == "sqnr>=30"
    assert out.is_file()
