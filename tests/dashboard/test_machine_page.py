"""The page Machine: the grid by shape and word, what follows from the processor, and probing again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from core.measure.roofline import CacheSpeed, Roofline
from core.recipe.precision import Precision
from core.runtime.conditions import Conditions
from core.runtime.settings import SessionSettings
from core.store.workspace import Workspace
from core.tasks.capability import cache_key
from core.tasks.roofline import roofline_key
from dashboard import services
from dashboard.machine_view import (
    cell_text,
    chosen,
    consequences,
    counted,
    grid,
    not_probed,
    peaks,
    reasons,
    ridges,
    too_busy,
)
from tests.dashboard.documents import machine_document
from tests.dashboard.faked import press, run, texts


def capability(state: str, speedup: float | None = 2.41, **more: Any) -> dict[str, Any]:
    interval = None if speedup is None else [2.35, 2.47]
    return {"op": "Conv", "precision": "int8", "state": state, "speedup": speedup, "ci95": interval, "why": "", **more}


ROOFLINE = Roofline(
    {"fp32": 160.0, "int8": 1370.0},
    20.0,
    (CacheSpeed(2**18, 40.0), CacheSpeed(2**20, 80.0), CacheSpeed(2**24, 35.0)),
    how={"fp32": "Conv 3x3", "int8": "MatMul", "memory": "copying"},
    levels={"L2": 2**21, "L3": 2**25},
    time="2026-01-01T10:00:00+00:00",
)


@pytest.fixture
def known(desk: Workspace) -> Workspace:
    """A workspace that knows this machine."""
    rows = machine_document()["capability"]
    for precision in Precision:
        of_it = [row for row in rows if row["precision"] == str(precision)]
        if of_it:
            desk.cache_put(cache_key(SessionSettings(), precision), {"rows": of_it, "saturates": True})
    desk.cache_put(roofline_key(SessionSettings()), ROOFLINE.to_dict())
    return desk


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (capability("executed"), "● executed 2.41x"),
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
    assert [name.split()[-1] for name in shown.columns[2:]] == ["fp16", "bf16", "int8", "fp32"]
    assert "2.40x" in " ".join(map(str, conv))
    assert not_probed(machine_document()).startswith("Not tried yet: int8-dynamic")


def test_reasons_tell_each_precision_of_one_operator_with_its_interval() -> None:
    table = reasons(machine_document(), "Conv Conv 3x3")
    assert table.ids == ("fp32", "fp16", "bf16", "int8")
    rows = {row["Precision"]: row for row in table.frame.to_dict("records")}
    assert rows["H fp16"]["Why"] == "runs through casts to fp32"
    assert rows["H fp16"]["Speed-up"] == ""
    assert rows["I int8"]["State"] == "● executed"
    assert str(rows["I int8"]["95 % interval"]).startswith("2.33")


def test_filters_keep_operators_and_states() -> None:
    machine = machine_document(matmul="simulated")

    def left(**filters: Any) -> set[str]:
        return {row["op"] for row in chosen(machine, **filters)["capability"]}

    assert left() == {"Conv", "Gemm", "MatMul", "Add"}
    assert left(ops=["Add"]) == {"Add"}
    assert left(states=["simulated"]) == {"Gemm", "MatMul"}
    assert left(states=["unavailable"]) == {"Conv"}
    assert left(ops=["Add"], states=["simulated"]) == set()


def test_states_are_counted_by_precision_and_only_what_is_executed_or_emulated_is_fast() -> None:
    counts = counted(machine_document(matmul="simulated")).frame.set_index("Precision")
    int8 = counts.loc["I int8"]
    assert [int8["● executed"], int8["◌ simulated"], int8["Faster than fp32"]] == [2, 2, 2]
    assert counts.loc["B bf16", "– unavailable"] == 1


def test_peaks_have_units_and_what_reached_them() -> None:
    table = peaks(ROOFLINE.to_dict()).frame.set_index("What")
    assert list(table.index) == ["I int8", "F fp32", "Memory", "Cache L2", "Cache L3"]
    assert table.loc["F fp32", "Highest speed"] == "160 GFLOP/s"
    assert table.loc["Memory", "Reached with"] == "copying"
    assert table.loc["Cache L2", "Highest speed"] == "80.0 GB/s"
    assert "8.00 in fp32, 68.5 in int8" in ridges(ROOFLINE.to_dict())


def test_speeds_of_a_busy_machine_are_told_to_be_too_low() -> None:
    assert too_busy(ROOFLINE.to_dict(), here()) == ""
    assert "load 3.00 on 2 cores" in too_busy(replace(ROOFLINE, load_average=3.0).to_dict(), here())


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


@pytest.mark.usefixtures("known")
def test_the_grid_is_filtered() -> None:
    app = run("machine")
    app.multiselect(key="machine.ops").set_value(["Conv"]).run()
    assert not app.exception
    assert list(app.dataframe[2].value["Op"]) == ["Conv"]


def test_a_machine_of_which_only_the_speeds_are_known_is_not_taken_for_probed(desk: Workspace) -> None:
    desk.cache_put(roofline_key(SessionSettings()), ROOFLINE.to_dict())
    assert services.machine() is None
    told = texts(run("machine"))
    assert "Measured 1 Jan 2026" in told
    assert "Nobody knows yet" in told


def test_a_known_machine_shows_its_grid_versions_and_room_and_is_probed_again(known: Workspace) -> None:
    app = run("machine")
    told = texts(app)
    assert [len(table.value) for table in app.dataframe] == [5, 3, 4]
    assert "Measured 1 Jan 2026" in told
    assert "weights are built with 7 bits" in told
    assert "onnxruntime" in told
    assert str(known.path) in told
    assert "free of" in told
    press(app, "machine.probe")
    assert services.jobs(kind="machine")[0].params["refresh"] is True
