"""The page Machine: the grid by shape and word, what follows from the processor, and probing again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from core.recipe.precision import Precision
from core.runtime.conditions import Conditions
from core.runtime.settings import SessionSettings
from core.store.workspace import Workspace
from core.tasks.capability import cache_key
from dashboard import services
from dashboard.machine_view import cell_text, consequences, grid, not_probed
from tests.dashboard.documents import machine_document
from tests.dashboard.faked import press, run, texts


def capability(state: str, speedup: float | None = 2.41, **more: Any) -> dict[str, Any]:
    interval = None if speedup is None else [2.35, 2.47]
    return {"op": "Conv", "precision": "int8", "state": state, "speedup": speedup, "ci95": interval, "why": "", **more}


@pytest.fixture
def known(desk: Workspace) -> Workspace:
    """A workspace that knows this machine."""
    rows = [{**row, "signature": row["signature"]} for row in machine_document()["capability"]]
    desk.cache_put(cache_key(SessionSettings()), {"rows": rows, "saturates": True})
    return desk


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (capability("executed"), "● executed 2.41x [2.35, 2.47]"),
        (capability("emulated", None), "◐ emulated"),
        (capability("simulated"), "◌ simulated"),
        (capability("unavailable", None), "– unavailable"),
        (None, "not probed"),
    ],
)
def test_a_cell_tells_the_state_by_shape_and_word_and_never_the_speed_of_what_is_simulated(
    row: dict[str, Any] | None, told: str
) -> None:
    assert cell_text(row, Precision.INT8) == told
    assert cell_text(None, Precision.FP32) == "● reference, 1x"


def test_the_grid_has_a_row_per_operator_and_shape_and_a_column_per_probed_precision() -> None:
    shown = grid(machine_document()).frame
    conv = shown[shown["Op"] == "Conv"].iloc[0]
    assert list(shown["Op"]) == ["Conv", "Gemm", "MatMul", "Add"]
    assert [name.split()[-1] for name in shown.columns[2:-1]] == ["fp16", "bf16", "int8", "fp32"]
    assert "2.40x" in " ".join(map(str, conv))
    assert "runs through casts to fp32" in conv["Why"]
    assert not_probed(machine_document()).startswith("Not probed in this version: int8-dynamic")


def here(**changes: Any) -> Conditions:
    return replace(services.conditions(), **{"load_average": 0.1, "cores": 2, **changes})


@pytest.mark.parametrize(
    ("features", "saturates", "told"),
    [
        (("avx2", "avx512_vnni"), False, ("AVX512-VNNI: 8-bit products are added in 32 bits", "use all 8 bits")),
        (("avx2",), True, ("No 8-bit dot product", "weights are built with 7 bits")),
        (("avx2",), None, ("No 8-bit dot product", "not known before the probe")),
        ((), None, ("not known before the probe",)),
    ],
)
def test_what_follows_from_the_processor(
    features: tuple[str, ...], saturates: bool | None, told: tuple[str, ...]
) -> None:
    found = consequences(here(features=features), saturates)
    assert len(found) == len(told)
    assert all(part in sentence for part, sentence in zip(told, found, strict=True))


def test_a_busy_machine_is_told() -> None:
    assert "timed now is noisy" in consequences(here(load_average=3.0), False)[-1]


def test_before_the_probe_the_page_says_so_and_begins_one(desk: Workspace) -> None:
    assert desk.path.exists()
    app = run("machine")
    assert "not probed yet" in texts(app)
    press(app, "machine.probe")
    (job,) = services.jobs(kind="machine")
    assert (job.state, job.params["refresh"]) == ("queued", False)
    assert app.button(key="machine.probe").disabled


def test_a_known_machine_shows_its_grid_versions_and_room_and_is_probed_again(known: Workspace) -> None:
    app = run("machine")
    told = texts(app)
    assert len(app.dataframe[0].value) == 4
    assert "weights are built with 7 bits" in told
    assert "onnxruntime" in told
    assert str(known.path) in told
    assert "free of" in told
    press(app, "machine.probe")
    assert services.jobs(kind="machine")[0].params["refresh"] is True
