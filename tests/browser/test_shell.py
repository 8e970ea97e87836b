"""The shell in a browser: first opening, uploads, Netron, links, jobs that survive tabs and workers."""

from __future__ import annotations

import json
import os
import re
import signal
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from playwright.sync_api import Page, expect

from core.intake.samples import find_sample
from core.jobs import queue
from core.store.rows import JobRow, JobState
from core.store.workspace import Workspace
from tests.browser.conftest import PATIENCE_MS, Server

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

Visit = Callable[..., Page]


def open_sample(page: Page, name: str) -> None:
    """Chooses a sample on the first page and waits until the page has filled itself."""
    card = page.get_by_test_id("stVerticalBlock").filter(has_text=re.compile(f"^{name}")).last
    card.get_by_role("button", name="Open sample").click()
    expect(page.get_by_text("Activation peak")).to_be_visible()


def upload(page: Page, *files: tuple[str, bytes]) -> None:
    """Drops files where a first visitor would."""
    given = [{"name": name, "mimeType": "application/octet-stream", "buffer": content} for name, content in files]
    page.locator("input[type=file]").first.set_input_files(given)  # type: ignore[arg-type]


def sample_link(server: Server) -> str:
    """The link parameters of digits-cnn."""
    model, data = kept_sample(server)
    return f"?model={model[:12]}&data={data[:12]}"


def kept_sample(server: Server) -> tuple[str, str]:
    """Model and data hash of digits-cnn in the server's workspace, put there if nobody has opened it yet."""
    sample = find_sample("digits-cnn")
    with Workspace.open(server.workspace) as workspace:
        for row in workspace.models():
            if row.name == sample.name:
                return row.sha256, workspace.datasets(row.sha256)[0].sha256
        model, data = workspace.files.put(sample.model), workspace.files.put(sample.data, suffix=".npz")
        workspace.add_model(sample.name, model, sample.model.stat().st_size, "sample")
        workspace.add_dataset(sample.name, data, model, sample.data.stat().st_size)
        return model, data


def long_job(server: Server, *, runs: int = 1_000_000) -> JobRow:
    """Queues a profile of digits-cnn that would take hours, just as the page asks for one, and waits for its start."""
    model, data = kept_sample(server)
    with Workspace.open(server.workspace) as workspace:
        params = {"model": model, "data": data, "threads": 1, "batch": 1, "seed": 0, "runs": runs}
        job_id = queue.submit(workspace, "profile", params, title="Profile digits-cnn")
        return until(workspace, job_id, lambda job: job.state is JobState.RUNNING and bool(job.fraction))


def until(workspace: Workspace, job_id: str, holds: Callable[[JobRow], bool]) -> JobRow:
    """Waits for a job to be so."""
    deadline = time.monotonic() + PATIENCE_MS / 1000
    while not holds(row := queue.job(workspace, job_id)):
        assert time.monotonic() < deadline, f"the job is {row.state}: {row.error}"
        time.sleep(0.1)
    return row


def end(server: Server, job_id: str) -> None:
    """Stops a job and waits for its end, so that the next test finds the machine idle."""
    with Workspace.open(server.workspace) as workspace:
        queue.stop(workspace, job_id)
        until(workspace, job_id, lambda job: job.is_final)


def test_the_first_opening_offers_samples_and_one_click_fills_the_page(open_page: Visit) -> None:
    page = open_page()
    expect(page.get_by_text("Start with a sample")).to_be_visible()
    open_sample(page, "digits-cnn")
    expect(page.get_by_text("Validation", exact=True)).to_be_visible()
    assert re.search(r"model=[0-9a-f]{12}&data=[0-9a-f]{12}", page.url)
    netron = page.frame_locator("iframe")
    expect(netron.get_by_text("GlobalAveragePool").first).to_be_attached()
    expect(page.get_by_text("Please update")).to_have_count(0)


def test_every_page_opens_without_a_model_and_offers_a_sample(open_page: Visit) -> None:
    for path in ("/profile", "/mix", "/compare"):
        page = open_page(path)
        expect(page.get_by_role("button", name="Open sample").first).to_be_visible()


def test_a_link_opens_the_same_view_on_every_page(open_page: Visit, server: Server) -> None:
    parameters = sample_link(server)
    page = open_page(f"/{parameters}&target=sqnr%3E%3D30")
    expect(page.get_by_text("Activation peak")).to_be_visible()
    page.get_by_role("link", name="Profile").click()
    expect(page).to_have_url(re.compile(r"/profile\?.*model=[0-9a-f]{12}.*target=sqnr"))


def test_a_link_with_a_selected_layer_opens_on_that_layer(open_page: Visit, server: Server) -> None:
    layer = "/stage2/stage2.0/conv1/Conv"
    page = open_page(f"/profile{sample_link(server)}&layer={layer}")
    expect(page.get_by_text(layer, exact=True).first).to_be_visible()
    page.reload()
    expect(page.get_by_text(layer, exact=True).first).to_be_visible()


def test_a_kept_mix_is_listed_and_leads_to_the_desk(open_page: Visit, server: Server) -> None:
    with Workspace.open(server.workspace) as workspace:
        workspace.save_mix(kept_sample(server)[0], "gentle *mix*", {"version": 1, "rules": []})
    page = open_page(f"/{sample_link(server)}")
    expect(page.get_by_text("gentle *mix*", exact=True)).to_be_visible()
    page.get_by_text("Open in Mix").first.click()
    expect(page).to_have_url(re.compile(r"/mix\?.*model=[0-9a-f]{12}"))


def test_a_link_from_another_server_says_so(open_page: Visit) -> None:
    page = open_page("/?model=0123456789ab")
    expect(page.get_by_text("which this workspace does not have")).to_be_visible()


@pytest.mark.parametrize(
    ("name", "cut", "sentence"),
    [
        ("notes.onnx", lambda model: b"these are notes, not a model", r"\S"),
        ("half.onnx", lambda model: model[: len(model) // 2], r"\S"),
        ("nothing.onnx", lambda model: b"", "is empty"),
    ],
)
def test_a_file_that_is_no_model_is_told_in_one_line(
    open_page: Visit, digits_model: Path, name: str, cut: Callable[[bytes], bytes], sentence: str
) -> None:
    page = open_page()
    expect(page.get_by_text("Start with a sample")).to_be_visible()
    upload(page, (name, cut(digits_model.read_bytes())))
    told = page.get_by_test_id("stAlert")
    expect(told).to_have_text(re.compile(sentence))
    expect(page.get_by_text("Traceback")).to_have_count(0)
    expect(page.get_by_role("button", name="Open sample").first).to_be_visible()


def test_a_name_with_markup_stays_a_name(open_page: Visit, digits_model: Path) -> None:
    page = open_page()
    expect(page.get_by_text("Start with a sample")).to_be_visible()
    name = "net **b** <img src=x onerror=alert(1)> :red[r] $x$ :smile:"
    upload(page, (f"{name}.onnx", digits_model.read_bytes() + b"\x5a\x00"))
    expect(page.get_by_role("heading", name=name)).to_be_visible()
    assert page.locator("img[src=x]").count() == 0


def test_a_running_job_is_seen_after_a_reload_and_in_a_second_tab_and_can_be_stopped(
    open_page: Visit, server: Server
) -> None:
    job = long_job(server)
    page = open_page(f"/profile{sample_link(server)}")
    expect(page.get_by_role("button", name="Stop").first).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Stop").first).to_be_visible()
    expect(page.get_by_text(re.compile("1 running"))).to_be_visible()
    second = open_page(f"/profile{sample_link(server)}")
    second.get_by_role("button", name="Stop").first.click()
    for tab in (second, page):
        expect(tab.get_by_text("was stopped").first).to_be_visible()
    with Workspace.open(server.workspace) as workspace:
        assert queue.job(workspace, job.id).state is JobState.STOPPED


def test_a_killed_worker_is_told_and_the_server_lives(open_page: Visit, server: Server) -> None:
    job = long_job(server)
    page = open_page(f"/profile{sample_link(server)}")
    expect(page.get_by_role("button", name="Stop").first).to_be_visible()
    for worker in workers(server, job):
        os.kill(worker, signal.SIGKILL)
    expect(page.get_by_text("crashed", exact=False).first).to_be_visible()
    expect(page.get_by_text("signal 9")).to_be_visible()
    assert json.loads(server.get("/health"))["status"] == "ok"
    with Workspace.open(server.workspace) as workspace:
        assert queue.job(workspace, job.id).state is JobState.CRASHED


def workers(server: Server, job: JobRow) -> list[int]:
    """The processes that run this job for this server."""
    below = psutil.Process(server.process.pid).children(recursive=True)
    return [process.pid for process in below if {"core.tasks", job.id} <= set(process.cmdline())]


def test_a_job_goes_on_when_its_tab_is_closed(open_page: Visit, server: Server) -> None:
    job = long_job(server)
    page = open_page(f"/profile{sample_link(server)}")
    expect(page.get_by_role("button", name="Stop").first).to_be_visible()
    page.close()
    with Workspace.open(server.workspace) as workspace:
        seen = queue.job(workspace, job.id).fraction
        later = until(workspace, job.id, lambda row: row.fraction != seen)
        assert later.state is JobState.RUNNING
    end(server, job.id)


def test_a_foreign_name_for_this_server_is_refused(server: Server) -> None:
    request = urllib.request.Request(server.url + "/health", headers={"Host": "evil.example"})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=30)
    assert refused.value.code == 400


def test_a_policy_holds_netron_to_this_server(server: Server) -> None:
    answer: Any = urllib.request.urlopen(f"{server.url}/netron/{kept_sample(server)[0]}/", timeout=30)
    assert "connect-src 'self'" in answer.headers["Content-Security-Policy"]
