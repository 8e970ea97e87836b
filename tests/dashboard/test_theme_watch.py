"""The watch over the theme, and the loader of charts: on every page, once, and they take no room."""

from __future__ import annotations

from pathlib import Path

from streamlit.testing.v1 import AppTest

from core.store.workspace import Workspace

MAIN = Path(__file__).parents[2] / "dashboard" / "main.py"


def test_every_page_is_watched(desk: Workspace) -> None:
    assert desk.path.exists()
    app = AppTest.from_file(str(MAIN), default_timeout=30).run()
    assert not app.exception
    watches = app.get("bidi_component")
    assert [watch.proto.component_name for watch in watches] == ["theme_watch", "charts_ahead"]
    assert all("display: none" in watch.proto.css_content for watch in watches)
