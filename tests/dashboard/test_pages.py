"""The pages Profile and Mix as a person meets them: with nothing, with a model, with results, with clicks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.store.workspace import Workspace
from dashboard import services
from tests.dashboard.documents import (
    build_document,
    machine_document,
    profile_document,
)
from tests.dashboard.faked import PAGES, Desk, candidate, press, run, texts


@pytest.mark.parametrize("page", ["profile", "mix", "compare"])
def test_without_a_model_every_page_says_what_to_do(page: str, desk: Workspace) -> None:
    assert desk.path.exists()
    assert "Start with a sample" in texts(run(page)) or run(page).subheader


# ---- Profile ----------------------------------------------------------------------------------------------------


def test_before_a_profile_the_structure_is_shown_and_the_button_starts_it(table: Callable[..., Desk]) -> None:
    desk = table()
    app = run("profile")
    assert "Not measured yet" in texts(app)
    assert not app.metric
    press(app, "profile.run")
    assert desk.submitted[0][0] == "profile"


def test_a_profile_shows_latency_without_the_profiler_and_how_the_rest_adds_up(table: Callable[..., Desk]) -> None:
    desk = table()
    desk.profile = profile_document(desk.inspection)
    app = run("profile")
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown["Latency, mean"].endswith(" ms")
    assert shown["Profiler overhead"] == "1.05x"
    assert shown["Attributed"] == "98.8 %"
    assert app.dataframe[0].value["Time (ms)"].is_monotonic_decreasing


def test_choosing_a_slow_layer_shows_its_card(table: Callable[..., Desk]) -> None:
    desk = table()
    desk.profile = profile_document(desk.inspection)
    page = run("profile")
    told = page.button(key="layer_card.slow0").proto
    assert told.HasField("wrap")
    assert not told.wrap, "a label of two lines would be centred"
    app = press(page, "layer_card.slow0")
    slowest = max(desk.profile["layers"], key=lambda row: row["ms"])["id"]
    assert app.session_state["link.layer"] == slowest
    assert f"**{slowest}**" in texts(app)
    assert "Limited by" in texts(app)
    app = press(app, "layer_card.clear")
    assert "The slowest layers" in texts(app)


def test_synthetic_data_and_foreign_figures_are_flagged(table: Callable[..., Desk]) -> None:
    desk = table()
    desk.profile = profile_document(desk.inspection, synthetic=True)
    told = texts(run("profile"))
    assert "Synthetic inputs" in told
    assert "another machine" in told


def test_missing_figures_do_not_break_the_page(table: Callable[..., Desk]) -> None:
    desk = table()
    desk.profile = profile_document(desk.inspection, missing=1.0)
    for key in ("wall_ms", "gap_ms", "overhead", "buckets", "attributed_share", "advice", "conditions"):
        desk.profile[key] = None
    shown = {metric.label: metric.value for metric in run("profile").metric}
    assert shown["Latency, mean"] == "not known"


@pytest.mark.parametrize("tab", ["Modules", "Timeline", "Roofline", "Memory", "Shapes", "Advice 1"])
def test_only_the_open_tab_is_drawn(tab: str, table: Callable[..., Desk]) -> None:
    desk = table()
    desk.profile = profile_document(desk.inspection)
    app = AppTest.from_file(str(PAGES / "profile.py"), default_timeout=30)
    app.session_state["profile.tabs"] = tab
    app.run()
    assert not app.exception
    assert not app.dataframe


# ---- Mix --------------------------------------------------------------------------------------------------------


def precisions(app: AppTest) -> list[str]:
    return [chips[0] for chips in app.dataframe[0].value["Precision"]]


def test_all_convolutions_go_to_int8_in_one_step_that_can_be_undone_and_redone(table: Callable[..., Desk]) -> None:
    desk = table()
    app = run("mix")
    assert set(precisions(app)) == {"fp32"}
    app = press(app, "mix.op.Conv")
    assert "int8" in precisions(app)
    assert desk.draft is not None
    assert desk.draft["rules"][0]["match"] == "op:Conv"
    app = press(app, "mix.undo")
    assert set(precisions(app)) == {"fp32"}
    assert "int8" in precisions(press(app, "mix.redo"))


def test_building_submits_the_recipe_that_the_desk_shows(table: Callable[..., Desk]) -> None:
    desk = table()
    app = press(run("mix"), "mix.op.Conv")
    press(app, "build.run")
    kind, params = desk.submitted[0]
    assert kind == "build"
    assert [rule["match"] for rule in params["recipe"]["rules"]] == ["op:Conv"]
    assert params["name"].startswith("Conv int8")


def test_a_draft_is_still_there_for_the_next_visitor(table: Callable[..., Desk]) -> None:
    table(draft={"version": 1, "rules": [{"match": "op:Conv", "precision": "int8"}], "pins": {"stem/conv": "fp32"}})
    app = run("mix")
    found = dict(zip(app.dataframe[0].value["Group"], precisions(app), strict=True))
    assert found["stem/conv"] == "fp32"
    assert found["stage1/block0/conv2"] == "int8"


def test_a_draft_that_cannot_be_read_is_told_and_not_fatal(table: Callable[..., Desk]) -> None:
    table(draft={"version": 9, "rules": []})
    app = run("mix")
    assert app.session_state["notice"]["kind"] == "recipe"


def test_the_inspector_sets_and_pins_the_group_that_is_looked_at(table: Callable[..., Desk]) -> None:
    desk = table()
    app = AppTest.from_file(str(PAGES / "mix.py"), default_timeout=30)
    app.session_state["link.layer"] = "stem/relu"
    app.run()
    assert "**stem/conv**" in texts(app), "a layer is looked at as part of its group"
    app = press(app, "mix.pin")
    assert desk.draft is not None
    assert desk.draft["pins"] == {"stem/conv": "fp32"}
    app = press(app, "mix.op.Conv")
    found = dict(zip(app.dataframe[0].value["Group"], precisions(app), strict=True))
    assert found["stem/conv"] == "fp32"
    press(app, "optimize.run")
    assert desk.submitted[0][1]["pins"] == {"stem/conv": "fp32"}


def test_only_what_the_probe_found_executed_is_offered(table: Callable[..., Desk]) -> None:
    machine = machine_document(conv="emulated", matmul="unavailable")
    machine["capability"] = [row for row in machine["capability"] if row["op"] != "Add"]
    app_keys = {button.key for button in run_with(table, machine) if not button.disabled}
    assert not any(key and key.startswith("mix.op.") for key in app_keys)
    assert "mix.set_operator.int8" not in app_keys
    assert "mix.set_operator.fp32" in app_keys


def run_with(table: Callable[..., Desk], machine: dict[str, Any]) -> list[Any]:
    table(machine=machine)
    return list(run("mix").button)


def test_an_unprobed_machine_is_probed_once(table: Callable[..., Desk]) -> None:
    table(machine=None)
    told = texts(run("mix"))
    assert "finds out once" in told
    run("mix")
    assert [row.kind for row in services.jobs(limit=50)] == ["machine"]


def test_the_last_candidate_stands_beside_the_desk_with_what_differs(table: Callable[..., Desk]) -> None:
    desk = table()
    desk.candidates = (candidate(build_document(desk.inspection)),)
    app = run("mix")
    assert "2.64 ms → 0.930 ms" in texts(app)
    assert "The desk differs in" in texts(app)
    app = press(app, "mix.load")
    assert "int8" in precisions(app)


def test_a_filter_narrows_the_table(table: Callable[..., Desk]) -> None:
    table()
    app = run("mix")
    app.text_input(key="mix.filter").set_value("head/").run()
    assert all(name.startswith("head/") for name in app.dataframe[0].value["Group"])


def test_a_pattern_that_is_no_regular_expression_is_told(table: Callable[..., Desk]) -> None:
    table()
    app = run("mix")
    app.text_input(key="mix.pattern").set_value("conv[").run()
    assert not app.exception
    assert "Not a regular expression" in texts(app)


# ---- What stays where it is ---------------------------------------------------------------------------------------


def test_a_running_profile_is_shown_below_the_heading_and_its_button_waits(
    table: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = table()
    desk.profile = profile_document(desk.inspection)
    row = services.job(services.submit_machine())
    monkeypatch.setattr(services, "job_of", lambda _, kind, active=True: row if kind == "profile" else None)
    app = run("profile")
    assert app.button(key="profile.run").disabled
    assert not any("Probe this machine" in str(told.value) for column in app.columns for told in column.markdown)
    assert "Probe this machine" in texts(app)


def test_while_the_machine_is_probed_the_buttons_for_int8_hold_their_place(table: Callable[..., Desk]) -> None:
    table(machine=None)
    before = run("mix")
    assert before.button(key="mix.op.Conv").disabled
    assert "Not known yet" in before.button(key="mix.op.Conv").help
    table()
    after = run("mix")
    assert not after.button(key="mix.op.Conv").disabled
    assert toolbar(before) == toolbar(after)
    assert "int8: executed here for" in texts(after)


def toolbar(app: AppTest) -> list[str | None]:
    return [button.key for button in app.button if str(button.key).startswith("mix.op.")]


def test_a_refused_recipe_is_told_beside_its_upload(table: Callable[..., Desk]) -> None:
    table()
    app = AppTest.from_file(str(PAGES / "mix.py"), default_timeout=30)
    app.session_state["mix.drawer.recipe"] = True
    app.run()
    app.file_uploader(key="mix.recipe.upload").set_value(("r.json", b"{", "application/json")).run()
    assert not app.exception
    assert "This file is not JSON" in texts(app)
    assert "notice" not in app.session_state, "nothing is told at the top of the page"
