"""A link that names what is not here says so in one line, and then says what is shown instead."""

from __future__ import annotations

from datetime import timedelta

import pytest
from streamlit.testing.v1 import AppTest

from core.store.rows import CandidateRow, DatasetRow, ModelRow
from core.store.workspace import Workspace
from dashboard.widgets import link_notes


def page() -> None:
    import streamlit as st

    from dashboard import services, state
    from dashboard.widgets import link_notes, strip

    state.follow_link()
    link_notes.mend_data()
    strip.draw()
    link_notes.data()
    link_notes.layer({"conv1", "conv2"})
    on = services.subject()
    if on is not None:
        known, current = services.candidates(on), services.current_candidate(on)
        link_notes.candidate(known, current, settled="waits" not in st.session_state)


@pytest.fixture
def model(desk: Workspace) -> ModelRow:
    return desk.add_model("digits", desk.files.put(b"one", suffix=".onnx"), 3, "sample")


@pytest.fixture
def data(desk: Workspace, model: ModelRow) -> DatasetRow:
    return desk.add_dataset("eval", desk.files.put(b"data", suffix=".npz"), model.sha256, 4)


@pytest.fixture
def made(desk: Workspace, model: ModelRow) -> CandidateRow:
    row = CandidateRow(model_sha256=model.sha256, file_sha256="f" * 64, name="mine", recipe={}, plan={}, report={})
    return desk.add_candidate(row)


def opened(model: ModelRow, *, waits: bool = False, **params: str) -> AppTest:
    app = AppTest.from_function(page, default_timeout=30)
    if waits:
        app.session_state["waits"] = True
    for name, value in {"model": model.sha256[:12], **params}.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def linked(app: AppTest, name: str) -> str | None:
    given = app.query_params.get(name)
    return given[0] if isinstance(given, list) else given


def told(app: AppTest) -> list[str]:
    return [str(warning.value).replace("\\", "") for warning in app.warning]


def test_unknown_data_is_told_and_synthetic_inputs_take_its_place(model: ModelRow) -> None:
    app = opened(model, data="nosuch")
    (line,) = told(app)
    assert "This link names data 'nosuch', which this workspace does not have. Synthetic inputs are used" in line
    assert linked(app, "data") == "synthetic"


def test_unknown_data_gives_way_to_the_data_that_the_model_has(model: ModelRow, data: DatasetRow) -> None:
    app = opened(model, data="nosuch")
    assert "'eval' is used instead" in told(app)[0]
    assert linked(app, "data") == data.sha256[:12]
    app.run()
    assert "'eval' is used instead" in told(app)[0], "a page that is being filled runs again at once"
    app.selectbox(key="strip.data").select("synthetic").run()
    assert told(app) == []


def test_an_unknown_layer_is_told_and_leaves_the_link(model: ModelRow) -> None:
    app = opened(model, layer="nosuch")
    assert told(app) == ["This link names the layer 'nosuch', which this model does not have. None is chosen."]
    assert linked(app, "layer") is None


def test_an_unknown_candidate_is_told_and_the_shown_one_is_linked(model: ModelRow, made: CandidateRow) -> None:
    app = opened(model, candidate="zzz")
    assert "the candidate 'zzz', which this model does not have here. 'mine' is shown instead." in told(app)[0]
    assert linked(app, "candidate") == made.id


def test_the_shown_candidate_is_linked_unless_another_is_being_built(model: ModelRow, made: CandidateRow) -> None:
    assert linked(opened(model), "candidate") == made.id
    assert linked(opened(model, waits=True), "candidate") is None


def test_what_is_known_is_not_told(model: ModelRow, data: DatasetRow, made: CandidateRow) -> None:
    app = opened(model, data=data.sha256[:12], layer="conv1", candidate=made.id)
    assert told(app) == []
    assert linked(app, "layer") == "conv1"


def test_a_note_is_gone_after_a_while(model: ModelRow, monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(model, layer="nosuch")
    monkeypatch.setattr(link_notes, "_TOLD_FOR", timedelta(0))
    assert told(app.run()) == []
