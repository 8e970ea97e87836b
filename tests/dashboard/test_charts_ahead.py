"""Charts ahead: the scripts that a browser loads early are those that Streamlit's pages will ask for."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dashboard.warm import warm_up
from dashboard.widgets.charts_ahead import scripts


def test_the_scripts_are_what_the_installed_streamlit_loads() -> None:
    folder = Path(st.__file__).parent / "static" / "static" / "js"
    entry = next(path for path in folder.glob("index.*.js") if "PlotlyChart" in path.read_text("utf-8"))
    assert [name.partition(".")[0] for name in scripts()] == ["DataFrame", "PlotlyChart"]
    for name in scripts():
        assert f"import(`./{name}`)" in entry.read_text("utf-8")


def test_first_uses_are_over_before_the_first_visitor() -> None:
    warm_up()
