from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from core.measure.runner import peak_bytes
from core.runtime.settings import SessionSettings
from tests.measure.data import classifier

ROOT = Path(__file__).resolve().parents[2]


def _serve(folder: Path, model: bytes, commands: str) -> tuple[int, list[dict[str, Any]]]:
    (folder / "model.onnx").write_bytes(model)
    with zipfile.ZipFile(folder / "feeds.npz", "w") as archive, archive.open("0|x.npy", "w") as member:
        np.lib.format.write_array(member, np.ones((1, 8), np.float32))
    spec = {
        "model": str(folder / "model.onnx"),
        "feeds": str(folder / "feeds.npz"),
        "units": 1,
        "weights": None,
        "settings": asdict(SessionSettings()),
    }
    (folder / "spec.json").write_text(json.dumps(spec))
    done = subprocess.run(
        [sys.executable, "-m", "core.measure.runner", str(folder)],
        input=commands,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def test_every_command_is_answered_by_one_line(tmp_path: Path) -> None:
    status, answers = _serve(tmp_path, classifier(), "run 0 1 3\npeak\n")
    assert status == 0
    assert answers[0] == {"ready": True}
    assert len(answers[1]["runs"]) == 3
    assert all(ns > 0 and cpu_ns >= 0 and isinstance(disturbed, bool) for ns, cpu_ns, disturbed in answers[1]["runs"])
    assert answers[2]["bytes"] > 0


def test_a_model_that_cannot_be_opened_is_an_answer_and_a_status(tmp_path: Path) -> None:
    status, answers = _serve(tmp_path, b"no model", "")
    assert status == 3
    assert answers[0]["error"]["kind"] == "run"


def test_peak_memory_is_that_of_this_process() -> None:
    assert 10e6 < peak_bytes() < 64e9


def test_the_child_imports_the_runtime_and_no_more_of_onnx() -> None:
    told = "import core.measure.runner, sys; print([name for name in ('onnx', 'onnx_ir') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]", "its memory is what is reported of the model"
