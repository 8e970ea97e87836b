"""The embedded Netron shows the figures of a profiled model in the side panel of a node, by itself."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from core.jobs import queue
from core.store.workspace import Workspace
from tests.browser.conftest import Server
from tests.browser.test_shell import Visit, kept_sample, until

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
#: Netron lays the graph out, then the script of ours hands the figures over.
_SHOWN_MS = 30_000


def test_a_profiled_model_has_its_times_in_netron(server: Server, open_page: Visit) -> None:
    model, data = kept_sample(server)
    subject = {"model": model, "model_name": "digits-cnn", "data": data, "threads": 1, "batch": 1, "seed": 0}
    with Workspace.open(server.workspace) as workspace:
        for kind, more in (("inspect", {}), ("profile", {"runs": 3})):
            job = queue.submit(workspace, kind, subject | more, title=kind)
            until(workspace, job, lambda row: row.is_final)
            assert queue.job(workspace, job).state == "done"
    page = open_page(f"/netron/{model}/")
    with page.expect_response("**/figures.json") as handed:
        page.reload()
    assert handed.value.status == 200
    node = page.locator("g.node").nth(1)  # the first is the input
    expect(node).to_be_attached(timeout=_SHOWN_MS)
    panel = page.locator("#sidebar")
    for _ in range(10):
        node.locator("path").first.click(force=True)
        if panel.get_by_text("Metrics").count():
            break
        page.wait_for_timeout(500)
    expect(panel.get_by_text("Metrics")).to_be_visible()
    expect(panel).to_contain_text("Conv+Relu (NCHWc)")
