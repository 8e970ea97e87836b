"""The form for growth: what it proposes, what it submits, what it refuses; and the way to the layer to blame."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.errors import CrashedError
from core.jobs import queue
from core.jobs.outcome import fail
from core.store.workspace import Workspace
from dashboard import services
from tests.dashboard.faked import MODEL, press, texts

INPUTS = [{"name": "ids", "dtype": "int64", "shape": ["batch", "sequence"]}]
SIZES = f"growth.{MODEL.sha256[:12]}.sequence.128"


def _form() -> None:
    from dashboard import services
    from dashboard.widgets.profile_growth import growth_form

    on = services.subject()
    assert on is not None
    growth_form(on)


@pytest.fixture
def submitted(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    document = {"model": {"inputs": INPUTS}, "data": {"shapes": {"ids": [1, 128]}}}

    def submit(on: object, kind: str, **params: Any) -> str:
        found.append({"kind": kind, **params})
        return "j1"

    monkeypatch.setattr(services, "subject", lambda: services.Subject(model=MODEL, data=None))
    monkeypatch.setattr(services, "inspection", lambda _: document)
    monkeypatch.setattr(services, "job_of", lambda *_, **__: None)
    monkeypatch.setattr(services, "submit", submit)
    return found


def form() -> AppTest:
    app = AppTest.from_function(_form, default_timeout=30).run()
    assert not app.exception, app.exception
    return app


def test_three_sizes_of_the_largest_open_dimension_are_proposed_and_submitted(submitted: list[dict[str, Any]]) -> None:
    app = form()
    assert app.text_input(key=SIZES).value == "32, 64, 128"
    press(app, "growth.run")
    (job,) = submitted
    assert job["kind"] == "profile"
    assert job["named_shapes"] == [{"name": f"sequence {size}", "shapes": {"ids": [1, size]}} for size in (32, 64, 128)]


def test_what_are_no_sizes_is_told_beside_the_field_and_not_submitted(submitted: list[dict[str, Any]]) -> None:
    app = form()
    app.text_input(key=SIZES).set_value("many").run()
    press(app, "growth.run")
    assert "'many' are no sizes." in texts(app)
    assert submitted == []


@pytest.mark.usefixtures("submitted")
def test_a_model_without_open_sizes_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    fixed = {"model": {"inputs": [{"name": "x", "dtype": "float32", "shape": [1, 3]}]}, "data": None}
    monkeypatch.setattr(services, "inspection", lambda _: fixed)
    app = form()
    assert "Every size of this model's inputs is fixed" in texts(app)
    assert not app.button


def _ended() -> None:
    import streamlit as st

    from dashboard import services, state
    from dashboard.widgets import jobs

    jobs.ended(services.jobs()[0], key="card")
    st.caption(f"chosen: {state.LAYER.get()}")


def test_the_layer_to_blame_is_one_click_away(desk: Workspace) -> None:
    job_id = queue.submit(desk, "profile", {"model": "ab" * 32}, title="Profile m")
    fail(desk, job_id, CrashedError("The runtime crashed in layer 'divide' (Div).", layer="divide").to_dict())
    app = AppTest.from_function(_ended, default_timeout=30).run()
    assert not app.exception, app.exception
    assert "chosen: divide" in texts(press(app, "card.layer"))
