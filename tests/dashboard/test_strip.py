"""The strip: one choice of model, data and target for every page, all of it in the link."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from core.jobs.queue import jobs
from core.store.rows import DatasetRow, ModelRow
from core.store.workspace import Workspace


def strip() -> None:
    import streamlit as st

    from dashboard import state
    from dashboard.widgets import empty, strip

    state.follow_link()
    strip.draw()
    empty.notice()
    st.json(state.link())


@pytest.fixture
def model(desk: Workspace) -> ModelRow:
    return desk.add_model("digits", desk.files.put(b"one", suffix=".onnx"), 3, "sample")


@pytest.fixture
def data(desk: Workspace, model: ModelRow) -> DatasetRow:
    return desk.add_dataset("eval", desk.files.put(b"data", suffix=".npz"), model.sha256, 4)


def opened(**params: str) -> AppTest:
    app = AppTest.from_function(strip, default_timeout=30)
    for name, value in params.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def labels(app: AppTest) -> list[str]:
    return [box.label for box in app.selectbox]


def linked(app: AppTest, name: str) -> str | None:
    assert not app.exception
    given = app.query_params.get(name)
    return given[0] if isinstance(given, list) else given


def test_an_empty_workspace_has_nothing_to_choose(desk: Workspace) -> None:
    assert desk.models() == ()
    assert labels(opened()) == []


def test_models_can_be_chosen_from_anywhere(model: ModelRow, data: DatasetRow) -> None:
    app = opened()
    assert labels(app) == ["Model"]
    app.selectbox[0].select(model.sha256).run()
    assert labels(app) == ["Model", "Data", "Target"]
    assert linked(app, "model") == model.sha256[:12]
    assert app.selectbox[1].value == data.sha256


def test_models_of_one_name_are_told_apart(desk: Workspace, model: ModelRow) -> None:
    other = desk.add_model("digits", desk.files.put(b"two", suffix=".onnx"), 3, "upload")
    options = opened().selectbox[0].options
    assert sorted(options) == sorted(f"digits · {row.sha256[:6]}" for row in (model, other))


def test_long_names_are_cut_in_the_middle_and_told_apart(desk: Workspace) -> None:
    for last in ("one", "two"):
        desk.add_model(f"resnet50_v2_trained_on_{last}", desk.files.put(last.encode(), suffix=".onnx"), 3, "upload")
    assert sorted(opened().selectbox[0].options) == ["resnet5…_on_one", "resnet5…_on_two"]
    like = desk.add_model("resnet50_v3_retrained_on_one", desk.files.put(b"like", suffix=".onnx"), 3, "upload")
    shown = [option for option in opened().selectbox[0].options if like.sha256[:6] in option]
    assert len(shown) == 1
    assert "…" in shown[0]


def test_synthetic_inputs_are_a_choice_that_is_read_at_once(desk: Workspace, model: ModelRow, data: DatasetRow) -> None:
    app = opened(model=model.sha256[:12], data=data.sha256[:12], layer="conv1")
    app.selectbox[1].select("synthetic").run()
    assert linked(app, "data") == "synthetic"
    assert linked(app, "layer") == "conv1"
    assert [(row.kind, row.params["data"]) for row in jobs(desk)] == [("inspect", None)]


def test_a_target_is_kept_in_the_link_and_can_be_taken_out(model: ModelRow) -> None:
    app = opened(model=model.sha256[:12])
    app.selectbox[2].select("sqnr>=30").run()
    assert linked(app, "target") == "sqnr>=30"
    app.selectbox[2].set_value(None).run()
    assert linked(app, "target") is None


def test_a_linked_target_of_ones_own_is_offered(model: ModelRow) -> None:
    app = opened(model=model.sha256[:12], target="latency<=5ms")
    assert app.selectbox[2].value == "latency<=5ms"


def test_another_model_takes_the_selected_layer_away(desk: Workspace, model: ModelRow) -> None:
    other = desk.add_model("other", desk.files.put(b"two", suffix=".onnx"), 3, "upload")
    app = opened(model=model.sha256[:12], layer="conv1", candidate="abc")
    app.selectbox[0].select(other.sha256).run()
    assert linked(app, "model") == other.sha256[:12]
    assert linked(app, "layer") is None
    assert linked(app, "candidate") is None


def test_threads_and_batch_are_chosen_in_the_strip_and_kept_in_the_link(model: ModelRow) -> None:
    app = opened(model=model.sha256[:12])
    app.number_input(key="running.batch").set_value(8).run()
    assert linked(app, "batch") == "8"
    assert linked(app, "threads") is None
    app.number_input(key="running.batch").set_value(1).run()
    assert linked(app, "batch") is None


def test_a_link_with_nonsense_runs_as_nobody_asked(model: ModelRow) -> None:
    app = opened(model=model.sha256[:12], batch="-3", threads="many", outputs="y:nan,z")
    assert app.number_input(key="running.batch").value == 1
    assert app.number_input(key="running.threads").value == 1
