"""The sweep on the Profile page: its duration beforehand, what is asked for, and what is shown of the last one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import services, state
from tests.dashboard.documents import CONDITIONS, profile_document
from tests.dashboard.faked import PAGES, Desk, press, texts
from tests.dashboard.figures.test_sweep import cell, document


def _page(table: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch, **answers: Any) -> tuple[AppTest, Desk]:
    desk = table()
    desk.profile = profile_document(desk.inspection)
    given: dict[str, Any] = {"expected_sweep_s": lambda *_: None, "sweep": lambda _: None, **answers}
    for name, answer in given.items():
        monkeypatch.setattr(services, name, answer)
    app = AppTest.from_file(str(PAGES / "profile.py"), default_timeout=30)
    app.session_state["profile.tabs"] = "Sweep"
    app.run()
    assert not app.exception, app.exception
    return app, desk


def test_how_long_it_takes_is_on_the_button_before_it_is_pressed(
    table: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    app, _ = _page(table, monkeypatch, expected_sweep_s=lambda *_: 41.7)
    assert app.button(key="sweep.run").label == "Sweep (about 42 s)"
    assert "estimated from the last profile" in texts(app)


def test_what_is_chosen_becomes_the_job(table: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []

    def submit(on: services.Subject, *numbers: Any) -> str:
        asked.append(numbers)
        return "j1"

    app, _ = _page(table, monkeypatch, submit_sweep=submit)
    assert app.button(key="sweep.run").label == "Sweep"
    assert "told after a quick run" in texts(app)
    app.multiselect(key="sweep.batches").set_value([1, 16])
    app.number_input(key="sweep.limit").set_value(20.0).run()
    press(app, "sweep.run")
    threads, batches, limit_ms = asked[0]
    assert threads[0] == 1
    assert (batches, limit_ms) == ([1, 16], 20.0)


def test_without_a_choice_there_is_no_button(table: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch) -> None:
    app, _ = _page(table, monkeypatch)
    app.multiselect(key="sweep.threads").set_value([]).run()
    assert not [button for button in app.button if button.key == "sweep.run"]
    assert "Choose at least one number of threads" in texts(app)


def test_the_last_sweep_is_shown_and_its_sweet_spot_can_be_used(
    table: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = cell(1, 8, None, why="It cannot.")
    measured = {**document(), "how": "all in turn", "measured_s": 9.0, "estimate_s": 10.0}
    measured["cells"] = [{**one, "conditions": dict(CONDITIONS)} for one in measured["cells"]] + [failed]
    app, _ = _page(table, monkeypatch, sweep=lambda _: measured)
    assert "It is best." in texts(app)
    assert "1 thread, batch 8 could not run: It cannot." in texts(app)
    assert app.button(key="sweep.use").label == "Use 2 threads, batch 4"
    app = press(app, "sweep.use")
    assert app.session_state[state.THREADS.name] == "2"
    assert app.session_state[state.BATCH.name] == "4"
