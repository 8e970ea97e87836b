"""The application: jobs run while it is up, and a fault of ours on a page never shows a stack trace."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anyio
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.web.server.app_discovery import discover_asgi_app

from core.store.workspace import Workspace
from dashboard import services
from dashboard.app import create_app
from dashboard.services.server import _running

ROOT = Path(__file__).resolve().parents[2]


def broken() -> None:
    from dashboard.app import say_what_happened

    say_what_happened(KeyError("a secret detail"))


def test_a_fault_of_ours_is_told_in_one_sentence_and_logged_in_full(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "mixdesk.dashboard"):
        app = AppTest.from_function(broken).run()
    assert not app.exception
    assert "a fault in Mixdesk" in app.error[0].value
    assert "secret" not in app.error[0].value
    assert "a secret detail" in caplog.text


def test_the_workspace_is_open_while_the_application_is_up(tmp_path: Path) -> None:
    ready: list[Workspace] = []
    app = create_app(workspace=tmp_path / "here", ready=lambda: ready.append(services.workspace()))

    async def live() -> None:
        assert app._user_lifespan is not None
        async with app._user_lifespan(app):
            assert ready[0].path == tmp_path / "here"
            assert services.workspace() is ready[0]

    # a thread of its own: the browser tests may have left an event loop running in this one
    with ThreadPoolExecutor(1) as pool:
        pool.submit(anyio.run, live).result()
    assert not _running


def test_streamlit_run_finds_the_application() -> None:
    found = discover_asgi_app(ROOT / "dashboard" / "app.py")
    assert (found.is_asgi_app, found.app_name) == (True, "app")
