"""Everything that people get wrong: one clear line, the right kind, exit status 2, and no work done in vain."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from core.cli import work
from core.progress import Silent
from core.store.workspace import Workspace
from core.tasks.registry import run_task
from tests.cli.running import Terminal

X = np.zeros((8, 1, 3), np.float32)

#: What is wrong -> arrays of the data file, and what the sentence must say.
BAD_DATA: dict[str, tuple[dict[str, Any], str]] = {
    "wrong input name": ({"images": X}, "images"),
    "near input name": ({"X": X}, "'X'"),
    "missing input": ({"y": np.zeros(8, np.int64)}, "x"),
    "dtype": ({"x": X.astype(np.int64)}, "int64"),
    "shape": ({"x": np.zeros((8, 1, 5), np.float32)}, "5"),
    "rank": ({"x": np.zeros((8, 2, 1, 3, 1), np.float32)}, "x"),
    "labels of the wrong length": ({"x": X, "y": np.zeros(7, np.int64)}, "7"),
    "NaN": ({"x": np.full_like(X, np.nan)}, "NaN"),
    "infinity": ({"x": np.full_like(X, np.inf)}, "inf"),
    "no samples": ({"x": X[:0]}, "no samples"),
    "objects": ({"x": np.array([{}], dtype=object)}, "pickled"),
}

COMMANDS = [
    ("inspect",),
    ("profile", "--runs", "1"),
    ("build", "--precision", "int8", "--no-measure"),
    ("optimize", "--time-budget", "1"),
]


@pytest.fixture
def here(mixdesk: Terminal, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """The command line with jobs that run in this very process."""

    def run_job(workspace: Workspace, kind: str, params: Mapping[str, Any], *, title: str) -> dict[str, Any]:
        return run_task(workspace, kind, params, Silent())

    monkeypatch.setattr(work, "run_job", run_job)
    return mixdesk


def _refused(here: Terminal, *arguments: str) -> dict[str, Any]:
    """The error of a call that is refused; the same sentence is told without --json."""
    answer = here(*arguments, "--json")
    assert answer.status == 2
    assert answer.err == ""
    plain = here(*arguments)
    assert plain.status == 2
    assert plain.out == ""
    assert plain.err.splitlines()[0] == f"mixdesk: {answer.error['message']}"
    return answer.error


@pytest.mark.parametrize("kept", [0.999, 0.5])
def test_a_truncated_model(here: Terminal, tmp_path: Path, digits_model: Path, kept: float) -> None:
    whole = digits_model.read_bytes()
    path = tmp_path / "cut.onnx"
    path.write_bytes(whole[: int(len(whole) * kept)])
    error = _refused(here, "inspect", str(path))
    assert error["kind"] == "model"
    assert "cut" in error["message"]


@pytest.mark.parametrize("what", BAD_DATA)
def test_data_that_does_not_fit(here: Terminal, tiny: Path, tmp_path: Path, what: str) -> None:
    arrays, says = BAD_DATA[what]
    path = tmp_path / "data.npz"
    np.savez(path, **arrays)
    error = _refused(here, "inspect", str(tiny), "--data", str(path))
    assert error["kind"] == "data"
    assert says in error["message"]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_every_command_refuses_bad_data(here: Terminal, tiny: Path, tmp_path: Path, command: tuple[str, ...]) -> None:
    path = tmp_path / "data.npz"
    np.savez(path, x=np.full_like(X, np.nan))
    assert _refused(here, command[0], str(tiny), *command[1:], "--data", str(path))["kind"] == "data"


def test_a_data_file_that_is_no_npz(here: Terminal, tiny: Path, tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    path.write_text("x,y\n1,2\n")
    assert _refused(here, "profile", str(tiny), "--data", str(path))["kind"] == "data"


@pytest.mark.parametrize("match", ["layer:conv1", "group:conv1", "op:Conv"])
def test_a_rule_for_what_the_model_does_not_have(here: Terminal, tiny: Path, tmp_path: Path, match: str) -> None:
    recipe = tmp_path / "recipe.json"
    recipe.write_text(json.dumps({"version": 1, "rules": [{"match": match, "precision": "int8"}]}))
    error = _refused(here, "build", str(tiny), "--recipe", str(recipe), "--no-measure")
    assert error["kind"] == "recipe"
    assert match.partition(":")[2] in error["message"]


def test_an_unknown_layer_in_a_rule_is_named_and_the_nearest_suggested(
    here: Terminal, digits_model: Path, tmp_path: Path
) -> None:
    recipe = tmp_path / "recipe.json"
    rule = {"match": "layer:/stem/conv/Cnov", "precision": "int8"}
    recipe.write_text(json.dumps({"version": 1, "rules": [rule]}))
    error = _refused(here, "build", str(digits_model), "--recipe", str(recipe), "--no-measure")
    assert error["layer"] == "/stem/conv/Cnov"
    assert "Did you mean '/stem/conv/Conv'?" in error["message"]


@pytest.mark.parametrize("command", ["build", "optimize"])
def test_a_pin_on_an_unknown_layer(here: Terminal, tiny: Path, command: str) -> None:
    more = ("--precision", "int8", "--no-measure") if command == "build" else ("--time-budget", "1")
    error = _refused(here, command, str(tiny), *more, "--pin", "nowhere=fp32")
    assert (error["kind"], error["layer"]) == ("recipe", "nowhere")


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("acuracy>=99%", "Did you mean 'accuracy'"),
        ("fast", "fast"),
        ("accuracy<=99%", ">="),
        ("accuracy>=99%", "labels"),
    ],
)
def test_a_target_that_cannot_be_judged(here: Terminal, tiny: Path, target: str, says: str) -> None:
    error = _refused(here, "optimize", str(tiny), "--target", target, "--time-budget", "1")
    assert error["kind"] == "target"
    assert says in error["message"]


def test_a_shape_that_does_not_fit(here: Terminal, tiny: Path) -> None:
    assert _refused(here, "profile", str(tiny), "--shape", "x=1x4")["kind"] == "data"
    assert _refused(here, "profile", str(tiny), "--shape", "z=1x3")["kind"] == "data"


@pytest.fixture
def refused_model(tmp_path: Path) -> Path:
    """A model that parses, with an operator that no runtime knows."""
    text = """
    <ir_version: 8, opset_import: ["" : 17]>
    odd (float[1, 3] x) => (float[1, 3] y) { y = Frobnicate (x) }
    """
    path = tmp_path / "odd.onnx"
    onnx.save(onnx.parser.parse_model(text), path)
    return path


def test_a_model_that_parses_but_cannot_run_is_inspected_with_an_error_finding(
    here: Terminal, refused_model: Path
) -> None:
    answer = here("inspect", str(refused_model), "--json")
    assert answer.status == 0
    assert answer.document["findings"][0]["severity"] == "error"
    assert "Frobnicate" in answer.document["findings"][0]["message"]
    assert "error: " in here("inspect", str(refused_model)).out


@pytest.mark.parametrize("command", COMMANDS[1:], ids=lambda command: command[0])
def test_it_is_refused_by_everything_else_with_that_finding(
    here: Terminal, refused_model: Path, command: tuple[str, ...]
) -> None:
    finding = here("inspect", str(refused_model), "--json").document["findings"][0]
    error = _refused(here, command[0], str(refused_model), *command[1:])
    assert error["kind"] == "model"
    assert error["message"] == finding["message"]


def test_models_with_other_inputs_cannot_be_compared(here: Terminal, tiny: Path, digits_model: Path) -> None:
    error = _refused(here, "compare", str(digits_model), str(tiny))
    assert "different inputs" in error["message"]


def test_weights_in_other_files_are_read_in(here: Terminal, tiny: Path, tmp_path: Path) -> None:
    split = tmp_path / "split" / "tiny.onnx"
    split.parent.mkdir()
    model = onnx.load(tiny)
    for tensor in model.graph.initializer:
        tensor.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(tensor), tensor.name))
    onnx.save(model, split, save_as_external_data=True, size_threshold=0, location="weights.bin")
    assert (split.parent / "weights.bin").is_file()
    document = here("inspect", str(split), "--json").document
    assert document["model"]["parameters"] == 6
    assert not [finding for finding in document["findings"] if finding["severity"] == "error"]
    (split.parent / "weights.bin").unlink()
    assert "weights.bin" in _refused(here, "profile", str(split))["message"]
