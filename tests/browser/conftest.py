"""A server of one's own on a free port, and a page that fails its test when a request leaves that server."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
START_S = 60
#: How long a page may take to show something, on a busy machine.
PATIENCE_MS = 60_000

expect.set_options(timeout=PATIENCE_MS)

ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@dataclass(frozen=True)
class Server:
    """A running dashboard: its address, workspace and process."""

    url: str
    workspace: Path
    process: subprocess.Popen[str]

    def get(self, path: str) -> str:
        """What it answers."""
        with urllib.request.urlopen(self.url + path, timeout=30) as answer:
            return str(answer.read().decode("utf-8"))


@contextmanager
def serve(folder: Path) -> Iterator[Server]:
    """Starts `python -m dashboard` on a free port with a workspace in `folder`, and ends it after."""
    workspace = folder / "workspace"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MIXDESK_MACHINE_LOCK": str(folder / "machine.lock")}
    environment.pop("MIXDESK_DATABASE_URL", None)
    log = (folder / "server.log").open("w+")
    process = subprocess.Popen(
        [sys.executable, "-m", "dashboard", "--port", "0", "--workspace", str(workspace)],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
    )
    try:
        line = process.stdout.readline() if process.stdout is not None else ""
        found = re.search(r"http://\S+", line)
        if found is None:
            process.kill()
            log.seek(0)
            pytest.fail(f"The dashboard did not start: {line} {log.read()[-2000:]}")
        yield Server(url=found[0], workspace=workspace, process=process)
    finally:
        process.terminate()
        try:
            process.wait(START_S)
        except subprocess.TimeoutExpired:
            process.kill()
        log.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One dashboard for all tests of a module."""
    with serve(tmp_path_factory.mktemp("dashboard")) as running:
        yield running


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    """Chromium, once per run."""
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        yield running
        running.close()


@pytest.fixture
def open_page(browser: Browser, server: Server) -> Iterator[Callable[..., Page]]:
    """Opens a path of the server as a new visitor; afterwards no request may have gone anywhere else."""
    contexts = []
    left: list[str] = []

    def record(url: str) -> None:
        if not url.startswith((server.url, server.url.replace("http:", "ws:"), "data:", "blob:")):
            left.append(url)

    def visit(path: str = "/", *, width: int = 1600, height: int = 1000) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, accept_downloads=True)
        contexts.append(context)
        context.on("request", lambda request: record(request.url))
        context.on("page", lambda page: page.on("websocket", lambda socket: record(socket.url)))
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.goto(server.url + path)
        return page

    yield visit
    for context in contexts:
        context.close()
    assert left == []
