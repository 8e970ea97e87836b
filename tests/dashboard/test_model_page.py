"""The Model page: offers, what it shows of a model, and what it says when something is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update
from streamlit.testing.v1 import AppTest

from core.jobs.outcome import fail, finish
from core.jobs.queue import jobs
from core.store.rows import CandidateRow, JobState, ModelRow, now
from core.store.tables import JOBS, PARTIALS
from core.store.workspace import Workspace
from dashboard import services
from dashboard.services import Subject
from tests.dashboard.documents import inspect_document
from tests.dashboard.faked import below

MODEL = {
    "name": "net",
    "layer_count": 54,
    "group_count": 24,
    "parameters": 2_801_234,
    "macs": 118_000_000,
    "weight_bytes": 11_204_936,
    "activation_peak_bytes": 524_288,
    "subgraph_count": 0,
    "inputs": [{"name": "x", "dtype": "float32", "shape": [1, 3, 8, 8]}],
    "outputs": [{"name": "y", "dtype": "float32", "shape": [1, 10]}],
}
CLEAN = {"model": MODEL, "findings": [], "repairs": []}

PAGE = Path(__file__).resolve().parents[2] / "dashboard" / "app_pages" / "model.py"


@pytest.fixture
def model(desk: Workspace) -> ModelRow:
    return desk.add_model("net **x**", desk.files.put(b"a model", suffix=".onnx"), 7, "upload")


def show(model: ModelRow | None, *, data: str | None = "synthetic", page: Path = PAGE) -> AppTest:
    app = AppTest.from_file(str(page), default_timeout=30)
    app.session_state["link.model"] = None if model is None else model.sha256[:12]
    app.session_state["link.data"] = data
    app.run()
    assert not app.exception
    return app


def inspected(desk: Workspace, row: ModelRow, **change: object) -> None:
    job_id = services.submit_inspect(Subject(model=row, data=None))
    start(desk, job_id)
    assert finish(desk, job_id, {**inspect_document(), **CLEAN, **change})


def start(desk: Workspace, job_id: str) -> None:
    with desk.database.writing() as connection:
        connection.execute(update(JOBS).where(JOBS.c.id == job_id).values(state=JobState.RUNNING))


def texts(app: AppTest) -> str:
    kinds = (app.markdown, app.caption, app.subheader, app.error, app.warning, app.text)
    return "\n".join(str(element.value) for kind in kinds for element in kind)


def test_an_empty_desk_offers_every_sample(desk: Workspace) -> None:
    assert desk.models() == ()
    app = show(None, data=None)
    assert [button.label for button in app.button].count("Open sample") >= 3
    assert "digits\\-cnn" in texts(app)


def test_a_model_that_was_not_read_yet_is_read_without_being_asked_for(desk: Workspace, model: ModelRow) -> None:
    app = show(model)
    assert [row.kind for row in jobs(desk)] == ["inspect"]
    assert "Stop" in [button.label for button in app.button]
    assert {flex.wrap for flex in rows_of(app.main)} == {True}, "a row that does not wrap has a scroll bar"
    show(model)
    assert len(jobs(desk)) == 1


def rows_of(block: Any) -> Iterator[Any]:
    """Every container of a page that puts its elements beside one another."""
    for child in block.children.values():
        if hasattr(child, "children"):
            flex = getattr(child.proto, "flex_container", None)
            if flex is not None and flex.direction == flex.Direction.HORIZONTAL:
                yield flex
            yield from rows_of(child)


def test_the_figures_of_a_read_model_are_shown(desk: Workspace, model: ModelRow) -> None:
    inspected(desk, model)
    app = show(model)
    assert [metric.label for metric in app.metric][:4] == ["Layers", "Groups", "Parameters", "Compute"]
    assert [metric.value for metric in app.metric][:4] == ["54", "24", "2.80 M", "118 MMAC"]


def test_a_name_with_markup_is_shown_as_it_is(desk: Workspace, model: ModelRow) -> None:
    inspected(desk, model)
    assert app_heading(show(model)) == r"net \*\*x\*\*"


def app_heading(app: AppTest) -> str:
    return str(app.subheader[0].value)


def test_synthetic_inputs_say_what_they_are_not_good_for(desk: Workspace, model: ModelRow) -> None:
    inspected(desk, model)
    assert "add data before you trust those" in texts(show(model))


def test_findings_and_repairs_are_told_with_their_hints(desk: Workspace, model: ModelRow) -> None:
    inspected(
        desk,
        model,
        findings=[{"severity": "warning", "message": "Odd <thing>.", "hint": "Look there."}],
        repairs=[{"what": "Named nodes", "why": "They had none.", "count": 3}],
    )
    shown = texts(show(model)).replace("\\", "")
    assert "Odd <thing>." in shown
    assert "Look there." in shown
    assert "Named nodes (3)" in shown
    assert "accept this model" not in shown


def opened_sizes(desk: Workspace, model: ModelRow) -> AppTest:
    spec = {"name": "x", "dtype": "float32", "shape": ["batch", 3, "?", 8]}
    data = {"name": "synthetic", "samples": 8, "splits": {}, "labels": False, "shapes": {"x": [1, 3, 224, 8]}}
    inspected(desk, model, model={**MODEL, "inputs": [spec]}, data=data)
    return show(model)


def press(app: AppTest, label: str) -> AppTest:
    next(button for button in app.button if button.label == label).click().run()
    assert not app.exception
    return app


def test_sizes_that_the_file_leaves_open_are_proposed_and_can_be_chosen(desk: Workspace, model: ModelRow) -> None:
    app = opened_sizes(desk, model)
    assert [(number.label.replace("\\", ""), number.value) for number in app.number_input] == [
        ("batch", 1),
        ("x, axis 2", 224),
    ]
    app.number_input[1].set_value(48)
    press(app, "Use these sizes")
    newest = jobs(desk, kind="inspect")[0]
    assert newest.state is JobState.QUEUED
    assert newest.params["shapes"] == {"x": [1, 3, 48, 8]}


def test_sizes_are_kept_under_a_name_chosen_again_and_deleted(desk: Workspace, model: ModelRow) -> None:
    app = opened_sizes(desk, model)
    app.text_input(key="shapes.name").set_value("large")
    press(app, "Keep")
    assert [(row.name, dict(row.shapes)) for row in desk.named_shapes(model.sha256)] == [
        ("large", {"x": (1, 3, 224, 8)})
    ]
    desk.save_shapes(model.sha256, "small", {"x": (1, 3, 32, 8)})
    app = show(model)
    assert app.selectbox(key="shapes.kept").value == "large"
    app.selectbox(key="shapes.kept").select("small").run()
    assert jobs(desk, kind="inspect")[0].params["shapes"] == {"x": [1, 3, 32, 8]}
    press(show(model), "Delete")
    assert [row.name for row in desk.named_shapes(model.sha256)] == ["small"]


def test_open_sizes_that_the_data_settles_are_told(desk: Workspace, model: ModelRow) -> None:
    data = desk.add_dataset("eval", desk.files.put(b"data", suffix=".npz"), model.sha256, 4)
    job_id = services.submit_inspect(Subject(model=model, data=data))
    start(desk, job_id)
    spec = {"name": "x", "dtype": "float32", "shape": ["batch", 3, "?", 8]}
    told = {"name": "eval", "samples": 8, "splits": {}, "labels": True, "shapes": {"x": [1, 3, 48, 8]}}
    document = {**inspect_document(), **CLEAN, "model": {**MODEL, "inputs": [spec]}, "data": told}
    assert finish(desk, job_id, document)
    app = show(model, data=data.sha256)
    assert "Open sizes come from the data: x 1x3x48x8" in texts(app).replace("\\", "")
    assert not app.number_input


def test_a_model_of_several_outputs_lets_them_be_chosen(desk: Workspace, model: ModelRow) -> None:
    outputs = [{"name": name, "dtype": "float32", "shape": [1, 10]} for name in ("boxes", "scores")]
    inspected(desk, model, model={**MODEL, "outputs": outputs})
    assert "Judge by these outputs" in [button.label for button in show(model).button]


def test_a_refused_recipe_is_told_below_its_field(desk: Workspace, model: ModelRow) -> None:
    inspected(desk, model)
    app = show(model)
    app.file_uploader(key="recipe.drop.0").set_value(("mine.json", b"{", "application/json")).run()
    assert "This file is not JSON." in below(app, "recipe.drop.1")


def test_refused_data_is_told_below_its_field(desk: Workspace, model: ModelRow) -> None:
    inspected(desk, model)
    app = show(model)
    app.file_uploader(key="upload.data.0").set_value([("eval.npz", b"", "application/zip")]).run()
    assert "'eval.npz' is empty." in below(app, "upload.data.1")


def test_when_no_output_is_left_that_is_told_below_the_table(desk: Workspace, model: ModelRow) -> None:
    outputs = [{"name": name, "dtype": "float32", "shape": [1, 10]} for name in ("boxes", "scores")]
    inspected(desk, model, model={**MODEL, "outputs": outputs})
    app = show(model)
    key = f"outputs.{model.sha256[:12]}.0"
    edits = {"edited_rows": {"0": {"counts": False}, "1": {"counts": False}}, "added_rows": [], "deleted_rows": []}
    app.session_state[key] = edits
    press(app, "Judge by these outputs")
    told = [str(error.value) for error in app.error]
    assert len(told) == 1
    assert told[0].startswith("No output is left")


def test_a_kept_mix_says_whether_it_was_built_and_can_be_deleted(desk: Workspace, model: ModelRow) -> None:
    inspected(desk, model)
    rule = {"match": "op:Conv", "precision": "int8"}
    desk.save_mix(model.sha256, "convs *int8*", {"version": 1, "rules": [rule]})
    desk.save_mix(model.sha256, "all", {"version": 1, "rules": [{"match": "*", "precision": "int8"}]})
    built = {"version": 1, "rules": [{**rule, "why": "tried"}]}
    row = CandidateRow(model_sha256=model.sha256, file_sha256=model.sha256, recipe=built, plan={}, report={})
    desk.add_candidate(row)
    app = show(model)
    shown = texts(app).replace("\\", "")
    assert "convs *int8*" in shown
    assert "1 rule · built" in shown
    assert "1 rule · never built" in shown
    app.button(key="mixes.delete.all").click().run()
    assert [mix.name for mix in desk.mixes(model.sha256)] == ["convs *int8*"]


def test_a_refused_file_is_told_in_one_line_and_other_models_are_offered(desk: Workspace, model: ModelRow) -> None:
    job_id = services.submit_inspect(Subject(model=model, data=None))
    start(desk, job_id)
    fail(desk, job_id, {"kind": "model", "message": "This is no ONNX file.", "hint": "Export it.", "layer": None})
    app = show(model)
    assert [error.value.replace("\\", "") for error in app.error] == ["This is no ONNX file.  \nExport it."]
    labels = [button.label for button in app.button]
    assert not {"Run again", "Resume"} & set(labels)
    assert "Open sample" in labels


def test_a_crash_is_told_and_can_be_repeated(desk: Workspace, model: ModelRow) -> None:
    job_id = services.submit_inspect(Subject(model=model, data=None))
    with desk.database.writing() as connection:
        error = {"kind": "crashed", "message": "The worker was killed by signal 9.", "hint": None, "layer": None}
        connection.execute(update(JOBS).where(JOBS.c.id == job_id).values(state=JobState.CRASHED, error=error))
    app = show(model)
    assert "killed by signal 9" in app.error[0].value
    next(button for button in app.button if button.label == "Resume").click().run()
    assert jobs(desk)[0].state is JobState.QUEUED
    assert jobs(desk)[0].params == jobs(desk)[1].params


def test_a_link_to_a_model_of_another_server_says_so(desk: Workspace) -> None:
    assert desk.models() == ()
    app = AppTest.from_file(str(PAGE), default_timeout=30)
    app.session_state["link.model"] = "0123456789ab"
    app.run()
    assert "0123456789ab, which this workspace does not have" in app.warning[0].value


@pytest.mark.parametrize(
    ("splits", "words"),
    [
        ({"calibration": 0, "evaluation": 0, "holdout": 8}, ["calibration", "evaluation"]),
        ({"calibration": 1, "evaluation": 0, "holdout": 1}, ["evaluation"]),
        ({"calibration": 1, "evaluation": 1, "holdout": 1}, []),
    ],
)
def test_data_with_too_few_distinct_samples_says_what_cannot_be_done(
    desk: Workspace, model: ModelRow, splits: dict[str, int], words: list[str]
) -> None:
    inspected(desk, model, data={"name": "few", "samples": 8, "synthetic": True, "splits": splits, "labels": False})
    told = [str(warning.value) for warning in show(model).warning]
    assert [line.startswith(f"No sample is left for {word}") for line, word in zip(told, words, strict=True)] == [
        True for _ in words
    ]


def test_a_path_of_the_server_is_not_shown(desk: Workspace) -> None:
    row = desk.add_model("net", desk.files.put(b"a model", suffix=".onnx"), 7, "/home/somebody/nets/first.onnx")
    inspected(desk, row)
    shown = texts(show(row)).replace("\\", "")
    assert "first.onnx" in shown
    assert "somebody" not in shown


@pytest.mark.parametrize("found", [True, False])
def test_a_job_that_was_cut_off_is_resumed_where_that_is_told(desk: Workspace, model: ModelRow, found: bool) -> None:
    inspected(desk, model)
    job_id = services.submit_profile(Subject(model=model, data=None))
    error = {"kind": "crashed", "message": "The worker was killed by signal 9.", "hint": None, "layer": None}
    with desk.database.writing() as connection:
        connection.execute(update(JOBS).where(JOBS.c.id == job_id).values(state=JobState.CRASHED, error=error))
        if found:
            value = {"key": "k", "computed": 3, "reused": 0}
            connection.execute(
                PARTIALS.insert().values(job_id=job_id, seq=1, kind="units", value=value, created_at=now())
            )
    app = show(model, page=PAGE.with_name("profile.py"))
    assert "killed by signal 9" in app.error[0].value
    assert ("Resume" in [button.label for button in app.button]) is found
