"""Runs in a browser: a server that is killed, the next one on the same workspace, and the way on from there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from core.jobs import queue
from core.store.rows import JobRow, JobState
from core.store.workspace import Workspace
from tests.browser.conftest import PATIENCE_MS, Server, serve
from tests.browser.test_shell import long_job, until

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A visitor of whichever server runs."""
    context = browser.new_context(viewport={"width": 1600, "height": 1000})
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE_MS)
    yield opened
    context.close()


def killed_in_the_middle(folder: Path) -> JobRow:
    """A job whose whole server was killed while it ran."""
    with serve(folder) as server:
        row = long_job(server)
        server.process.kill()
        server.process.wait()
    return row


def told(page: Page, text: str) -> Locator:
    """The error of the chosen run; its words are in the table too, where only screen readers find them."""
    return page.get_by_test_id("stAlert").get_by_text(text)


def newest(server: Server) -> JobRow:
    with Workspace.open(server.workspace) as workspace:
        return queue.jobs(workspace, limit=1)[0]


def test_what_a_killed_server_left_is_interrupted_and_is_resumed_from_the_page(page: Page, tmp_path: Path) -> None:
    row = killed_in_the_middle(tmp_path)
    with serve(tmp_path) as server:
        page.goto(f"{server.url}/runs?run={row.id}")
        expect(told(page, "ended before the job did")).to_be_visible()
        page.get_by_role("button", name="Resume").click()
        expect(page.get_by_role("button", name="Stop", exact=True)).to_be_visible()
        again = newest(server)
        assert again.resumes == row.id
        expect(page).to_have_url(re.compile(f"run={again.id}"))
        with Workspace.open(server.workspace) as workspace:
            until(workspace, again.id, lambda job: job.state is JobState.RUNNING)
        page.get_by_role("button", name="Stop", exact=True).click()
        expect(told(page, "Stopped on request")).to_be_visible()
        expect(page.get_by_role("button", name="Resume")).to_be_visible()


def test_the_chips_of_the_strip_lead_to_runs_and_machine(page: Page, tmp_path: Path) -> None:
    with serve(tmp_path) as server:
        page.goto(server.url)
        page.get_by_text("No jobs running").click()
        page.get_by_role("button", name="Open Runs").click()
        expect(page.get_by_text("Nothing has run yet")).to_be_visible()
        page.get_by_text("cores,").first.click()
        page.get_by_role("button", name="Open Machine").click()
        expect(page.get_by_text("What this machine executes")).to_be_visible()
