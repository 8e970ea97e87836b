"""Sets up the page, follows the link, draws the strip, and hands over to the page that was chosen in the top bar."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from core.errors import MixdeskError
from dashboard import state
from dashboard.widgets import charts_ahead, empty, errors, link_notes, strip, theme_watch

#: A file of our own: a Material icon would be fetched from outside.
ICON = Path(__file__).parent / "assets" / "mixdesk.svg"

st.set_page_config(page_title="Mixdesk", page_icon=ICON, layout="wide", initial_sidebar_state="collapsed")
state.follow_link()

page = st.navigation(
    [
        st.Page("app_pages/model.py", title="Model", icon=":material/deployed_code:", default=True),
        st.Page("app_pages/profile.py", title="Profile", icon=":material/speed:"),
        st.Page("app_pages/mix.py", title="Mix", icon=":material/tune:"),
        st.Page("app_pages/compare.py", title="Compare", icon=":material/compare:"),
        st.Page("app_pages/runs.py", title="Runs", icon=":material/history:"),
        st.Page("app_pages/machine.py", title="Machine", icon=":material/memory:"),
    ],
    position="top",
)
st.logo(ICON, size="small")
theme_watch.draw()
charts_ahead.draw()
try:
    link_notes.mend_data()
    strip.draw()
    link_notes.data()
    empty.notice()
    page.run()
except MixdeskError as error:
    errors.show(error)
