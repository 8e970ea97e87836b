"""Netron is served silenced, pointed at a file of the workspace, and held to this server by the browser."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from starlette.routing import BaseRoute

from dashboard.graph_viewer import netron_folder, netron_page, netron_routes, netron_url
from tests.dashboard.asgi import get

SHA = "a" * 64


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model"
    path.write_bytes(b"a model")
    return path


def routes(model: Path, name: str = "digits", figures: dict[str, object] | None = None) -> Sequence[BaseRoute]:
    return netron_routes(lambda sha256: model if sha256 == SHA else None, lambda _: name, lambda _: figures)


def meta(page: str, name: str) -> list[str]:
    return re.findall(rf'<meta name="{name}" content="([^"]*)">', page)


def test_the_page_claims_no_version_and_a_date_that_never_ends() -> None:
    page = netron_page("digits")
    assert meta(page, "version") == ["0.0.0"]
    assert meta(page, "date") == ["9999-01-01 00:00:00"]
    assert meta(page, "file") == ["data/model.onnx"]


def test_a_name_with_markup_stays_a_name() -> None:
    page = netron_page('"><script>alert(1)</script>\\1')
    assert "<script>alert" not in page
    assert meta(page, "name") == ["&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;\\1"]


def test_the_page_gives_the_consent_and_forbids_connections_elsewhere(model: Path) -> None:
    answer = get(routes(model), netron_url(SHA))
    assert answer.status == 200
    assert answer.headers["set-cookie"].startswith("consent=1;")
    assert "connect-src 'self';" in answer.headers["content-security-policy"]
    assert "frame-ancestors 'self'" in answer.headers["content-security-policy"]


def test_the_file_lies_beside_the_page(model: Path) -> None:
    assert get(routes(model), f"/netron/{SHA}/data/model.onnx").body == b"a model"


def test_a_file_that_is_not_there_is_not_found(model: Path) -> None:
    other = "b" * 64
    assert get(routes(model), netron_url(other)).status == 404
    assert get(routes(model), f"/netron/{other}/data/model.onnx").status == 404


def test_every_script_of_netron_is_served(model: Path) -> None:
    for name in ("index.js", "browser.js", "view.js", "onnx.js", "grapher.css", "onnx-metadata.json"):
        assert get(routes(model), f"/netron/{SHA}/{name}").body == (netron_folder() / name).read_bytes()


def test_figures_are_handed_over_by_a_script_of_ours_that_the_policy_allows(model: Path) -> None:
    page = get(routes(model), netron_url(SHA)).text
    assert '<script type="module" src="attach.js"></script>' in page
    script = get(routes(model), f"/netron/{SHA}/attach.js")
    assert script.headers["content-type"].startswith("text/javascript")
    assert "fetch('figures.json')" in script.text


def test_a_model_that_was_profiled_has_figures_and_another_has_none(model: Path) -> None:
    told = get(routes(model, figures={"signature": "netron:attachment"}), f"/netron/{SHA}/figures.json")
    assert (told.status, told.text) == (200, '{"signature":"netron:attachment"}')
    none = get(routes(model), f"/netron/{SHA}/figures.json")
    assert (none.status, none.text) == (204, "")


def test_netron_still_has_what_the_script_asks_it_for() -> None:
    index = (netron_folder() / "index.js").read_text(encoding="utf-8")
    view = (netron_folder() / "view.js").read_text(encoding="utf-8")
    base = (netron_folder() / "base.js").read_text(encoding="utf-8")
    assert "window.__view__ = " in index
    assert "async attach(context)" in view
    assert re.search(r"export const \{[^}]*\}|export const BinaryStream|base\.BinaryStream", base)


@pytest.mark.parametrize("name", ["server.py", "index.html", "__init__.py", "..", "%2e%2e%2fpyproject.toml"])
def test_nothing_else_of_the_package_is_served(model: Path, name: str) -> None:
    assert get(routes(model), f"/netron/{SHA}/{name}").status == 404
