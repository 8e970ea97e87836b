"""Theme watch: redraws the page when the browser goes from light to dark or back, for figures have their own colours.

Streamlit recolours its own elements at once but does not run the page again, so figures would keep the colours of the
theme they were drawn for.
"""

from __future__ import annotations

import streamlit as st

_KEY = "theme_watch"
_LOOK_EVERY_MS = 100

#: Looks at the page's background, whatever changed it (the system or the menu), and tells of each change once.
_SCRIPT = f"""
export default function ({{ parentElement, setTriggerValue }}) {{
  const background = () => getComputedStyle(document.querySelector(".stApp") ?? document.body).backgroundColor
  let seen = background()
  const timer = setInterval(() => {{
    const now = background()
    if (now === seen) return
    seen = now
    setTriggerValue("changed", now)
  }}, {_LOOK_EVERY_MS})
  return () => clearInterval(timer)
}}
"""


def draw() -> None:
    """Puts the watch on the page, where it takes no room."""
    watch = st.components.v2.component(
        _KEY, html="<span></span>", css=f".st-key-{_KEY} {{ display: none; }}", js=_SCRIPT, isolate_styles=False
    )
    watch(key=_KEY, on_changed_change=lambda: None)
