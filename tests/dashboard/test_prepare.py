"""Preparing data on the Model page: fields, samples under them, the job, and what is said of what does not fit."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from core.errors import DataError
from core.intake.preprocessing import AudioPreprocessing, ImagePreprocessing, TextPreprocessing
from core.jobs.outcome import fail, finish
from core.jobs.queue import jobs
from core.store.rows import JobRow, ModelRow
from core.store.workspace import Workspace
from dashboard import services
from dashboard.services import Subject
from dashboard.widgets.prepare import given_to_model, seen
from tests.dashboard.documents import inspect_document
from tests.dashboard.test_model_page import CLEAN
from tests.dashboard.worked import begin

PAGE = Path(__file__).resolve().parents[2] / "dashboard" / "app_pages" / "model.py"
IMAGES = ImagePreprocessing(size=(8, 8), scale=1 / 255, labels="folder", guessed=("colours are RGB",)).to_dict()
STREAM = io.BytesIO()
Image.fromarray(np.zeros((4, 4, 3), np.uint8)).save(STREAM, "PNG")
SAMPLE = {
    "name": "a *b*.png",
    "label": "cat <i>",
    "thumbnail": base64.b64encode(STREAM.getvalue()).decode(),
    "text": None,
    "shape": [1, 3, 8, 8],
    "minimum": -1.0,
    "mean": 0.25,
    "maximum": 1.0,
    "note": None,
}


@pytest.fixture
def model(desk: Workspace) -> ModelRow:
    row = desk.add_model("net", desk.files.put(b"a model", suffix=".onnx"), 7, "upload")
    job_id = services.submit_inspect(Subject(model=row, data=None))
    begin(desk, services.job(job_id))
    assert finish(desk, job_id, {**inspect_document(), **CLEAN})
    return row


@pytest.fixture
def previewed(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What previews were asked for; each answers with one sample, or refuses where height is 13."""
    asked: list[Any] = []

    def preview(on: Subject, source: dict[str, Any], preprocessing: dict[str, Any] | None) -> dict[str, Any]:
        asked.append(preprocessing)
        if preprocessing is not None and preprocessing.get("size", [0])[0] == 13:
            raise DataError("The model takes 8 x 8, not 13 x 8.", hint="Give its size.")
        return {"preprocessing": preprocessing or proposals[source["source_name"].split(".")[-1]], "samples": [SAMPLE]}

    proposals = {
        "zip": IMAGES,
        "wav": AudioPreprocessing(rate=16000, window=512).to_dict(),
        "csv": TextPreprocessing(labels="column").to_dict(),
    }
    monkeypatch.setattr(services, "preview", preview)
    return asked


def looked_at(desk: Workspace, name: str = "photos.zip", kind: str = "images") -> JobRow:
    """A finished job that found data to prepare."""
    job_id = services.submit_bring(f"Open {name}", files=[])
    begin(desk, services.job(job_id))
    data = {"sha256": desk.files.put(name.encode(), suffix=""), "name": name, "kind": kind}
    assert finish(desk, job_id, {"model": None, "data": data, "missing": [], "tokenizer": None, "unused": []})
    return services.job(job_id)


def page(model: ModelRow, preparing: str) -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=30)
    app.session_state["link.model"] = model.sha256[:12]
    app.session_state["link.data"] = "synthetic"
    app.session_state["link.preparing"] = preparing
    app.run()
    assert not app.exception, app.exception
    return app


def box(app: AppTest, label: str) -> Any:
    return next(each for each in app.selectbox if each.label == label)


def field(app: AppTest, label: str) -> Any:
    return next(each for each in [*app.number_input, *app.text_input] if each.label == label)


def shown(app: AppTest) -> str:
    kinds = (app.markdown, app.caption, app.subheader, app.error, app.warning)
    return "\n".join(str(each.value) for kind in kinds for each in kind).replace("\\", "")


@pytest.mark.usefixtures("previewed")
def test_a_proposal_is_shown_with_what_was_guessed_and_with_samples(desk: Workspace, model: ModelRow) -> None:
    app = page(model, looked_at(desk).id)
    assert box(app, "Values").value == "0 to 1"
    told = shown(app)
    assert "colours are RGB" in told
    assert "The model gets 1x3x8x8 of each, values -1.00 to 1.00" in told
    assert "**cat <i>**" in told
    assert "a *b*.png" in told


def test_every_change_is_seen_at_once_and_used_by_the_job(
    desk: Workspace, model: ModelRow, previewed: list[Any]
) -> None:
    app = page(model, looked_at(desk).id)
    box(app, "Values").select("(pixel - 127) / 128").run()
    box(app, "Labels from").select("prefix").run()
    field(app, "At most so many").set_value(100).run()
    assert (previewed[-1]["mean"], previewed[-1]["std"], previewed[-1]["labels"]) == ([127.0], [128.0], "prefix")
    assert previewed[-1]["guessed"] == []
    app.button(key="prepare.use").click().run()
    assert not app.exception
    job = jobs(desk, kind="convert")[0]
    assert job.params["preprocessing"]["mean"] == [127.0]
    assert (job.params["limit"], job.params["source_name"], job.model_sha256) == (100, "photos.zip", model.sha256)


@pytest.mark.usefixtures("previewed")
def test_grey_images_are_offered_the_values_of_one_channel(desk: Workspace, model: ModelRow) -> None:
    app = page(model, looked_at(desk).id)
    box(app, "Values").select("ImageNet mean and deviation").run()
    box(app, "Colours").select("grey").run()
    assert not app.error
    assert not any("ImageNet" in name for name in box(app, "Values").options)
    assert "MNIST mean and deviation" in box(app, "Values").options
    box(app, "Colours").select("RGB").run()
    assert any("ImageNet" in name for name in box(app, "Values").options)


@pytest.mark.usefixtures("previewed")
def test_own_numbers_are_read_and_wrong_ones_told(desk: Workspace, model: ModelRow) -> None:
    app = page(model, looked_at(desk).id)
    box(app, "Values").select("own numbers").run()
    field(app, "Mean").set_value("104, 117, many").run()
    assert "no number for the mean" in app.error[0].value
    assert app.button(key="prepare.use").disabled
    field(app, "Mean").set_value("104, 117, 123").run()
    assert not app.error
    assert not app.button(key="prepare.use").disabled


@pytest.mark.usefixtures("previewed")
def test_what_does_not_fit_the_model_is_told_and_cannot_be_used(desk: Workspace, model: ModelRow) -> None:
    app = page(model, looked_at(desk).id)
    field(app, "Height").set_value(13).run()
    assert "not 13 x 8" in app.error[0].value
    assert app.button(key="prepare.use").disabled


@pytest.mark.usefixtures("previewed")
@pytest.mark.parametrize(("name", "kind", "label"), [("a.wav", "audio", "Rate (Hz)"), ("a.csv", "text", "Most tokens")])
def test_sound_and_text_have_fields_of_their_own(
    desk: Workspace, model: ModelRow, name: str, kind: str, label: str
) -> None:
    assert field(page(model, looked_at(desk, name, kind).id), label).value


def converted(desk: Workspace, model: ModelRow, **how: Any) -> JobRow:
    source = {"source": "0" * 64, "source_name": "first.zip", "tokenizer": None}
    job_id = services.submit_convert(Subject(model, None), source, {**IMAGES, **how}, limit=None)
    begin(desk, services.job(job_id))
    return services.job(job_id)


def test_the_next_upload_begins_with_what_was_used_before(
    desk: Workspace, model: ModelRow, previewed: list[Any]
) -> None:
    before = converted(desk, model, mean=[127.0], std=[128.0], scale=1.0)
    assert finish(desk, before.id, {"data": "0" * 64, "name": "first"})
    app = page(model, looked_at(desk).id)
    assert box(app, "Values").value == "(pixel - 127) / 128"
    assert "Begins with the preprocessing of 'first.zip'" in shown(app)
    app.button(key="prepare.afresh").click().run()
    assert box(app, "Values").value == "0 to 1"


@pytest.mark.usefixtures("previewed")
def test_converted_data_goes_on_the_desk(desk: Workspace, model: ModelRow) -> None:
    row = converted(desk, model)
    data = desk.files.put(b"arrays", suffix=".npz")
    desk.add_dataset("first", data, model.sha256, 6)
    assert finish(desk, row.id, {"data": data, "name": "first"})
    app = page(model, row.id)
    assert app.session_state["link.data"] == data[:12]
    assert app.session_state["link.preparing"] is None
    assert jobs(desk, kind="inspect")[0].params["data"] == data


@pytest.mark.usefixtures("previewed")
def test_a_failed_conversion_is_told_and_its_settings_are_still_there(desk: Workspace, model: ModelRow) -> None:
    row = converted(desk, model, mean=[127.0], std=[128.0], scale=1.0)
    fail(desk, row.id, {"kind": "data", "message": "No label for 'x'.", "hint": "Add one.", "layer": None})
    app = page(model, row.id)
    assert "No label for 'x'" in shown(app)
    assert box(app, "Values").value == "(pixel - 127) / 128"


@pytest.mark.usefixtures("previewed")
def test_it_can_be_left_and_an_unknown_job_is_forgotten(desk: Workspace, model: ModelRow) -> None:
    app = page(model, looked_at(desk).id)
    app.button(key="prepare.leave").click().run()
    assert not app.exception
    assert "Prepare" not in shown(app)
    assert page(model, "0123456789ab").session_state["link.preparing"] is None


def test_the_preprocessing_of_the_data_is_shown_with_it(desk: Workspace, model: ModelRow) -> None:
    data = desk.add_dataset("first", desk.files.put(b"arrays", suffix=".npz"), model.sha256, 6)
    job_id = services.submit_inspect(Subject(model=model, data=data))
    begin(desk, services.job(job_id))
    told = {"name": "first", "samples": 8, "splits": {}, "labels": True, "shapes": {}, "preprocessing": IMAGES}
    assert finish(
        desk, job_id, {**inspect_document(), **CLEAN, "data": {**told, "remarks": ["2 files were left out."]}}
    )
    app = AppTest.from_file(str(PAGE), default_timeout=30)
    app.session_state["link.model"], app.session_state["link.data"] = model.sha256, data.sha256
    app.run()
    assert "Made from images: 8x8, shorter side to fit" in shown(app)
    assert "2 files were left out." in shown(app)


def test_what_a_sample_gives_is_told_in_numbers_or_why_it_gives_nothing() -> None:
    assert seen(SAMPLE, is_text=False) == "-1.00 to 1.00, mean 0.250"
    assert seen(SAMPLE, is_text=True) == "1x3x8x8"
    broken = {**SAMPLE, "note": "is no image"}
    assert seen(broken, is_text=False) == "is no image"
    assert given_to_model([broken], is_text=False) == "None of these samples can be read."
    assert given_to_model([SAMPLE, {**SAMPLE, "shape": [1, 3, 9, 8]}], is_text=False).startswith(
        "The model gets 1x3x8x8 and others of each"
    )


def test_texts_that_are_padded_to_the_longest_of_all_are_not_said_to_have_the_length_of_those_shown() -> None:
    tokens = {**SAMPLE, "shape": [1, 60]}
    told = given_to_model([tokens], is_text=True, longest=128)
    assert told == (
        "The model gets 1x60 of each in this preview; used, all texts are padded to the longest of them, "
        "at most 128 tokens"
    )
    for settled in (
        given_to_model([tokens], is_text=True),
        given_to_model([tokens], is_text=True, longest=60),
        given_to_model([{**tokens, "minimum": None}], is_text=True, longest=128),
    ):
        assert settled == "The model gets 1x60 of each"


def test_the_page_says_so_of_texts(desk: Workspace, model: ModelRow, monkeypatch: pytest.MonkeyPatch) -> None:
    how = TextPreprocessing(labels="column").to_dict()
    answer = {"preprocessing": how, "samples": [{**SAMPLE, "thumbnail": None, "text": "hello", "shape": [1, 60]}]}
    monkeypatch.setattr(services, "preview", lambda *_: answer)
    app = page(model, looked_at(desk, "a.csv", "text").id)
    assert "1x60 of each in this preview" in shown(app)
    box(app, "Pad").select("max_length").run()
    assert "The model gets 1x60 of each\n" in shown(app)
