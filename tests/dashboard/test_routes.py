"""Beside the pages the server tells that it lives and hands out files of the workspace, to be saved, never shown."""

from __future__ import annotations

import json

import pytest

from core import __version__
from core.store.workspace import Workspace
from dashboard import services
from dashboard.routes import all_routes
from tests.dashboard.asgi import get


def test_health_names_the_version() -> None:
    answer = get(all_routes(), "/health")
    assert answer.status == 200
    assert json.loads(answer.text) == {"status": "ok", "mixdesk": __version__}


def test_a_download_is_an_attachment_under_the_asked_name(desk: Workspace) -> None:
    sha256 = desk.files.put(b"<script>", suffix=".onnx")
    answer = get(all_routes(), services.file_url(sha256, "my mix.onnx"))
    assert answer.status == 200
    assert answer.body == b"<script>"
    assert answer.headers["content-disposition"].startswith("attachment;")
    assert "my%20mix.onnx" in answer.headers["content-disposition"]
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("sha256", ["0" * 64, "mixdesk.db", "..", "%2e%2e"])
def test_what_is_no_file_of_the_workspace_is_not_found(desk: Workspace, sha256: str) -> None:
    assert desk.models() == ()
    assert get(all_routes(), f"/files/{sha256}/x.onnx").status == 404


def test_netron_shows_a_model_under_its_own_name(desk: Workspace) -> None:
    sha256 = desk.files.put(b"m", suffix=".onnx")
    desk.add_model("a <b>", sha256, 1)
    assert '<meta name="name" content="a &lt;b&gt;">' in get(all_routes(), f"/netron/{sha256}/").text
