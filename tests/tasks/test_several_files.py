"""Models of several files go through every task as others do, and their weights stay where they are."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import core
from core.intake.bring import bring
from core.intake.load import load_model
from core.progress import Silent
from core.store.workspace import Workspace
from core.tasks.build import build
from core.tasks.compare import compare
from core.tasks.inspect import inspect
from core.tasks.profile import profile
from tests.intake.several import chain, save_apart

pytestmark = [pytest.mark.usefixtures("unprobed"), pytest.mark.xdist_group("timing")]

FIRST_INT8 = {"version": 1, "rules": [{"match": "layer:mm0", "precision": "int8", "why": "a test"}]}
WEIGHTS_BYTES = 3 * 64 * 64 * 4

#: Inspects a model while a thread looks at the memory that is this process's own; prints its growth in bytes.
WATCH = """
import json, sys, threading, time
from pathlib import Path
from core.progress import Silent
from core.store.workspace import Workspace
from core.tasks.inspect import inspect
from core.tasks.profile import profile
from core.intake.load import load_model

def own():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))

class Peak(threading.Thread):
    def __enter__(self):
        self.going, self.start_bytes, self.peak_bytes = True, own(), 0
        self.start()
        return self
    def run(self):
        while self.going:
            self.peak_bytes = max(self.peak_bytes, own())
            time.sleep(0.002)
    def __exit__(self, *_):
        self.going = False
        self.join()
        self.grown_bytes = max(self.peak_bytes, own()) - self.start_bytes

small, large = sys.argv[2:]
with Workspace.open(Path(sys.argv[1])) as store:
    inspect(store, {"model": small}, Silent())
    with Peak() as load:
        model = load_model(store.files.path(large))
    with Peak() as inspected:
        document = inspect(store, {"model": large}, Silent())
    profiled = profile(store, {"model": large, "runs": 1}, Silent())
print(json.dumps({
    "weights": document["model"]["weight_bytes"], "layers": len(profiled["layers"]),
    "load": load.grown_bytes, "inspect": inspected.grown_bytes,
}))
"""


@pytest.fixture
def apart(store: Workspace, tmp_path: Path) -> dict[str, Any]:
    """Parameters that name a model in two files."""
    path = save_apart(chain(layers=3), tmp_path / "net.onnx", location="weights/w.bin")
    return {"model": bring(store.files, path).sha256, "model_name": "net", "time_budget_s": 0.3}


@pytest.fixture
def alone(store: Workspace) -> dict[str, Any]:
    """Parameters that name the same model in one file."""
    return {"model": store.files.put(chain(layers=3).SerializeToString()), "model_name": "net", "time_budget_s": 0.3}


def test_it_is_the_same_model_as_in_one_file(store: Workspace, apart: dict[str, Any], alone: dict[str, Any]) -> None:
    one, other = (inspect(store, params, Silent())["model"] for params in (apart, alone))
    assert one["sha256"] == apart["model"] != other["sha256"]
    assert one["bytes"] == store.files.stat(apart["model"]).size_bytes
    for same in ("parameters", "macs", "weight_bytes", "layer_count", "inputs", "outputs"):
        assert one[same] == other[same]
    assert store.model(apart["model"]).size_bytes == one["bytes"]


def test_it_is_profiled_layer_by_layer(store: Workspace, apart: dict[str, Any]) -> None:
    document = profile(store, {**apart, "runs": 2}, Silent())
    assert document["attributed_share"] > 0.9
    assert document["memory"]["process_peak_bytes"] > 0
    assert sum(layer["ms"] or 0 for layer in document["layers"]) > 0


def test_a_candidate_keeps_only_the_weights_it_uses(
    store: Workspace, apart: dict[str, Any], alone: dict[str, Any]
) -> None:
    document = build(store, {**apart, "recipe": FIRST_INT8}, Silent())
    reference = build(store, {**alone, "recipe": FIRST_INT8, "measure": False}, Silent())
    assert document["fidelity"]["sqnr_db"] == pytest.approx(reference["fidelity"]["sqnr_db"], abs=0.1)
    assert {layer["id"]: layer["produced"] for layer in document["layers"]}["mm0"] == "int8"
    files = store.files.members(document["file"])
    assert list(files) == ["model.onnx", "model.onnx.data"]
    assert 0.5 < files["model.onnx.data"].stat().st_size / WEIGHTS_BYTES < 0.8  # two of three, and a quarter
    stored = load_model(files["model.onnx"])
    assert stored.sha256 == document["file"]
    given = {weight.name: onnx.numpy_helper.to_array(weight) for weight in chain(layers=3).graph.initializer}
    weight = stored.ir.graph.initializers["w2"].const_value
    assert weight is not None
    np.testing.assert_array_equal(weight.numpy(), given["w2"])
    assert document["comparison"]["size"]["before_bytes"] == store.files.stat(apart["model"]).size_bytes


def test_two_models_of_several_files_are_compared(store: Workspace, apart: dict[str, Any]) -> None:
    built = build(store, {**apart, "recipe": FIRST_INT8, "measure": False}, Silent())
    document = compare(store, {**apart, "candidate_file": built["file"], "candidate_name": "int8"}, Silent())
    assert document["fidelity"]["sqnr_db"] > 20
    assert document["ratio"]["size"] > 1


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells a process's own memory")
def test_weights_are_mapped_and_never_copied_whole(store: Workspace, tmp_path: Path) -> None:
    small = bring(store.files, save_apart(chain(layers=1), tmp_path / "small.onnx", location="small.bin")).sha256
    proto = chain(width=64, layers=13)
    for number, weight in enumerate(proto.graph.initializer):
        size = 2048 * 2048 * 4
        weight.CopyFrom(onnx.TensorProto(name=weight.name, data_type=weight.data_type, dims=[2048, 2048]))
        weight.data_location = onnx.TensorProto.EXTERNAL
        for key, value in (("location", "large.bin"), ("offset", number * size), ("length", size)):
            weight.external_data.add(key=key, value=str(value))
    for value in (*proto.graph.input, *proto.graph.output):
        value.type.tensor_type.shape.dim[1].dim_value = 2048
    (tmp_path / "large.onnx").write_bytes(proto.SerializeToString())
    with (tmp_path / "large.bin").open("wb") as file:
        file.truncate(13 * 2048 * 2048 * 4)
    large = bring(store.files, tmp_path / "large.onnx").sha256
    command = [sys.executable, "-c", WATCH, str(store.path), small, large]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=Path(core.__file__).resolve().parent.parent
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    shutil.rmtree(store.path / "files")
    assert found["weights"] == 13 * 2048 * 2048 * 4 > 200_000_000
    assert found["layers"] == 26
    assert found["load"] < found["weights"] / 8
    assert found["inspect"] < found["weights"] / 8
