"""Every file that is no usable model, dropped on the Model page: its sentence, no stack trace, and the desk goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
import onnx.parser
import pytest
from sqlalchemy import update
from streamlit.testing.v1 import AppTest

from core.errors import MixdeskError
from core.jobs.outcome import fail, finish
from core.jobs.queue import jobs
from core.progress import Silent
from core.store.rows import JobState
from core.store.tables import JOBS
from core.store.workspace import Workspace
from core.tasks.registry import run_task
from dashboard import loading, state
from tests.bad_models import BAD, GOOD

PAGE = Path(__file__).resolve().parents[2] / "dashboard" / "app_pages" / "model.py"


def work(desk: Workspace) -> None:
    """Does what a worker would do with the queued jobs."""
    for row in reversed(jobs(desk, states=(JobState.QUEUED,))):
        with desk.database.writing() as connection:
            connection.execute(update(JOBS).where(JOBS.c.id == row.id).values(state=JobState.RUNNING))
        try:
            finish(desk, row.id, run_task(desk, row.kind, row.params, Silent()))
        except MixdeskError as error:
            fail(desk, row.id, error.to_dict())


class Visitor:
    """Somebody with a browser: what they did last, and the page as it is for them."""

    def __init__(self, desk: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
        self.session: dict[str, Any] = {}
        self._desk, self._patch = desk, monkeypatch

    def drop(self, path: Path) -> None:
        """Drops a file, and what lies beside it, as the upload field does."""
        given = [(each.name, each.read_bytes()) for each in sorted(path.parent.iterdir()) if not each.is_symlink()]
        with self._patch.context() as patch:
            patch.setattr("streamlit.session_state", self.session)
            patch.setattr("streamlit.query_params", {})
            try:
                loading.open_upload(given)
            except MixdeskError as error:
                state.NOTICE.set(error.to_dict())
        work(self._desk)

    def look(self) -> AppTest:
        """The page after all that it starts by itself."""
        for _ in range(3):
            app = AppTest.from_file(str(PAGE), default_timeout=60)
            for name, value in self.session.items():
                app.session_state[name] = value
            app.run()
            assert not app.exception
            if not jobs(self._desk, states=(JobState.QUEUED,)):
                return app
            work(self._desk)
        return app


@pytest.fixture
def visitor(desk: Workspace, monkeypatch: pytest.MonkeyPatch) -> Visitor:
    return Visitor(desk, monkeypatch)


def shown(app: AppTest) -> str:
    kinds = (app.error, app.warning, app.markdown, app.caption)
    return "\n".join(str(element.value) for kind in kinds for element in kind).replace("\\", "")


@pytest.mark.parametrize("what", BAD)
def test_its_sentence_is_shown_and_the_former_model_stays_usable(
    desk: Workspace, visitor: Visitor, tmp_path: Path, what: str
) -> None:
    good = tmp_path / "good" / "good.onnx"
    good.parent.mkdir()
    onnx.save(onnx.parser.parse_model(GOOD), good)
    visitor.drop(good)
    visitor.look()
    visitor.drop(BAD[what].make(tmp_path / "given"))
    app = visitor.look()
    notice = visitor.session.get("notice") or {}
    told = f"{shown(app)} {notice.get('message')} {notice.get('hint')}"
    assert BAD[what].said_on_page in told
    assert "Traceback" not in told
    (row,) = [row for row in desk.models() if row.name == "good"]
    visitor.session = {"link.model": row.sha256[:12]}
    app = visitor.look()
    assert not app.error
    assert [metric.value for metric in app.metric][:1] == ["2"]


def test_what_a_broken_graph_holds_is_not_known(visitor: Visitor, tmp_path: Path) -> None:
    visitor.drop(BAD["cycle"].make(tmp_path / "given"))
    metrics = {metric.label: metric.value for metric in visitor.look().metric}
    for name in ("Layers", "Groups", "Parameters", "Compute", "Weights", "Activation peak"):
        assert metrics[name] == "not known"
