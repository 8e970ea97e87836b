"""Segments: one of a few choices, the first to begin with."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def _page() -> None:
    import streamlit as st

    from dashboard.widgets.segments import segments

    st.text(segments("Colour by", {"limit": "What limits it", "precision": "Precision"}, key="by"))


def test_the_first_is_chosen_until_another_is() -> None:
    app = AppTest.from_function(_page).run()
    assert app.text[0].value == "limit"
    app.segmented_control(key="by").set_value("precision").run()
    assert app.text[0].value == "precision"
