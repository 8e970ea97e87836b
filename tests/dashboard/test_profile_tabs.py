"""The tabs of the Profile page: filter with sums, window of the timeline, words of the roofline, another run beside."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.store.workspace import Workspace
from dashboard import services, state
from dashboard.layer_views import layer_views
from dashboard.services.profiles import OtherRun
from dashboard.widgets.chart_touch import clicked_id
from dashboard.widgets.profile_memory import told_choice
from dashboard.widgets.profile_modules import pick_area
from dashboard.widgets.profile_roofline import told_layers, told_machine
from dashboard.widgets.profile_shapes import told_growth
from dashboard.widgets.profile_timeline import told_run
from tests.dashboard.deep_profile import deep_profile
from tests.dashboard.documents import inspect_document
from tests.dashboard.faked import PAGES, Desk, press, run, texts

INSPECTION = inspect_document(30)
DOCUMENT = deep_profile(INSPECTION)


@pytest.fixture
def deep(table: Callable[..., Desk]) -> Desk:
    desk = table()
    desk.profile = deep_profile(desk.inspection)
    return desk


def opened(tab: str, **session: Any) -> AppTest:
    app = AppTest.from_file(str(PAGES / "profile.py"), default_timeout=30)
    app.session_state["profile.tabs"] = tab
    for name, value in session.items():
        app.session_state[name.replace("__", ".")] = value
    app.run()
    assert not app.exception, app.exception
    return app


def test_the_table_shows_what_is_searched_and_what_it_adds_up_to(deep: Desk) -> None:
    app = run("profile")
    all_rows = len(app.dataframe[0].value)
    app = app.text_input(key="profile.filter.words").set_value("block0 conv").run()
    assert not app.exception
    assert len(app.dataframe[0].value) == 3
    assert f"3 of {all_rows} layers, " in texts(app)
    app = press(app, "profile.filter.clear")
    assert len(app.dataframe[0].value) == all_rows
    assert deep.profile is not None


def test_kinds_can_be_asked_for(deep: Desk) -> None:
    app = run("profile")
    app = app.multiselect(key="profile.filter.precisions").set_value(["int8"]).run()
    assert not app.exception
    assert deep.profile is not None
    known = {row["id"] for row in deep.profile["layers"] if row["precision"] == "int8"}
    assert set(app.dataframe[0].value["Layer"]) == known


def test_a_filter_that_finds_nothing_says_so(deep: Desk) -> None:
    assert deep.profile is not None
    app = run("profile").text_input(key="profile.filter.words").set_value("nowhere").run()
    assert "No layer is like that." in texts(app)
    assert not app.dataframe


def test_the_window_goes_to_the_chosen_layer_and_back(deep: Desk) -> None:
    assert deep.profile is not None
    app = opened("Timeline", link__layer="head/fc")
    slider = app.slider[0]
    assert slider.value == (0.0, pytest.approx(deep.profile["timeline"]["ms"]))
    app = press(app, "profile.window.around")
    low, high = app.slider[0].value
    kernel = next(k for k in deep.profile["timeline"]["kernels"] if k["layers"] == ["head/fc"])
    assert low < kernel["start_ms"] < high < deep.profile["timeline"]["ms"]
    app = press(app, "profile.window.whole")
    assert app.slider[0].value[0] == 0.0


def test_the_timeline_says_which_run_it_is_and_what_a_run_takes_without_the_profiler() -> None:
    told = told_run({**DOCUMENT, "timeline": {**DOCUMENT["timeline"], "omitted": 7}})
    assert told.startswith("One real run with the profiler on: ")
    assert "Without the profiler a run takes" in told
    assert "taken out" not in told, "an older profile does not know it"
    known = told_run({**DOCUMENT, "profiler": {"inside_ms": 0.25}})
    assert "of the times of layers, 0.250 ms that it takes inside them is taken out" in known
    assert "The last 7 kernels of the run were not kept." in told


def test_an_older_profile_says_what_it_lacks(table: Callable[..., Desk]) -> None:
    desk = table()
    document = deep_profile(desk.inspection)
    for key in ("timeline", "roofline", "growth"):
        document[key] = None
    del document["memory"]["steps"]
    desk.profile = document
    assert "no timeline" in texts(opened("Timeline"))
    assert "Probe the machine" in texts(opened("Roofline"))
    assert "Profile again to see the curve" in texts(opened("Memory"))


def test_the_machine_is_told_in_words() -> None:
    told = told_machine(DOCUMENT)
    assert told.startswith("This machine with 1 thread: memory brings 12.0 GB/s")
    assert "fp32 at most 90.0 GFLOP/s, memory rules below 7.50 FLOP/B" in told
    assert told_machine({"roofline": None}) == ""
    views = layer_views(INSPECTION, DOCUMENT)
    timed = sum(1 for view in views if view.ms)
    placed = sum(1 for view in views if view.ms and view.macs)
    assert told_layers(views).startswith(f"{placed} layers with arithmetic; {timed - placed} more, ")


def test_the_memory_of_the_chosen_layer_is_told() -> None:
    memory = DOCUMENT["memory"]
    holder = memory["holders"][0]
    assert "at the peak it holds" in told_choice(memory, holder["layer"])
    assert "100 % of the peak" in told_choice(memory, memory["peak_at"])
    assert "has no step" in told_choice(memory, "folded")
    assert told_choice(memory, None).startswith("A click")


def test_the_growth_of_the_chosen_layer_is_told() -> None:
    assert told_growth(DOCUMENT["growth"], "head/fc") == "head/fc does not grow."
    assert "took no time" in told_growth(DOCUMENT["growth"], "stem/relu")


# ---- beside ----------------------------------------------------------------------------------------------------


@pytest.fixture
def other(deep: Desk, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    document = deepcopy(deep.profile)
    assert document is not None
    document["conditions"]["threads"] = 4
    document["wall_ms"]["mean"] /= 2
    runs = (OtherRun("run4", "4 threads · batch 1", False),)
    monkeypatch.setattr(services, "other_profiles", lambda _: runs)
    monkeypatch.setattr(services, "other_profile", lambda _, wanted: document if wanted == "run4" else None)
    return document


def test_without_another_run_the_tab_says_how_to_get_one(deep: Desk) -> None:
    assert deep.profile is not None
    assert "No other profile of this model is finished" in texts(opened("Beside another run"))


def test_choosing_another_run_writes_the_link_and_tells_what_was_different(other: dict[str, Any]) -> None:
    assert other["layers"]
    app = opened("Beside another run")
    assert not app.dataframe
    app = app.selectbox(key="profile.beside").set_value("run4").run()
    assert not app.exception
    assert app.session_state["link.beside"] == "run4"
    told = texts(app)
    assert "Measured under different conditions: threads: 1 here, 4 there." in told
    assert "0.500x" in told
    assert app.dataframe[0].value["Change (ms)"].abs().max() == 0.0


def test_a_shared_link_opens_the_comparison(other: dict[str, Any]) -> None:
    assert other["layers"]
    app = AppTest.from_file(str(PAGES / "profile.py"), default_timeout=30)
    app.session_state["link.beside"] = "run4"
    app.run()
    assert not app.exception
    assert "Measured under different conditions" in texts(app)


def test_a_link_to_a_run_that_is_gone_says_so(other: dict[str, Any]) -> None:
    assert other["layers"]
    told = texts(opened("Beside another run", link__beside="gone"))
    assert "is not in this workspace" in told


# ---- one selection ----------------------------------------------------------------------------------------------


def test_a_layer_chosen_elsewhere_is_ticked_in_the_table(deep: Desk) -> None:
    assert deep.profile is not None
    app = press(run("profile"), "layer_card.slow1")
    chosen = app.session_state["link.layer"]
    rows = app.session_state["profile.layers"]["selection"]["rows"]
    assert app.dataframe[0].value["Layer"].iloc[rows].tolist() == [chosen]
    app = press(app, "layer_card.clear")
    assert app.session_state["profile.layers"]["selection"]["rows"] == []


def test_a_click_on_an_area_chooses_its_layer_and_one_on_a_module_none(desk: Workspace) -> None:
    assert desk.path.exists()
    pick_area(str(clicked_id({"cell": None, "area": "l:stem/conv"})))
    assert state.LAYER.get() == "stem/conv"
    for other in ("m:stage1", "r:stage1", "c:stage1"):
        pick_area(other)
    assert state.LAYER.get() == "stem/conv"


def shown_areas(app: AppTest) -> list[str]:
    drawn = (json.loads(chart.proto.spec)["data"][0] for chart in app.get("plotly_chart"))
    return next(list(trace["ids"]) for trace in drawn if "ids" in trace)


def test_a_closed_module_is_looked_at_and_left_again(deep: Desk) -> None:
    deep.inspection = inspect_document(1_500)
    deep.profile = deep_profile(deep.inspection)
    app = opened("Modules")
    ids = shown_areas(app)
    assert "no room for every layer" in texts(app)
    closed = next(area for area in ids if area.startswith("c:"))
    app.session_state["profile.modules.near"] = closed[2:]
    app.run()
    assert f"m:{closed[2:]}" in shown_areas(app)
    app = press(app, "profile.modules.whole")
    assert closed in shown_areas(app)
