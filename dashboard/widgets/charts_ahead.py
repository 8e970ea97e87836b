"""Charts ahead: a browser loads the scripts of charts and tables while its visitor still looks at the first page.

Streamlit loads each script when a page first has such an element. That of charts has nearly 5 MB, and getting it ready
takes a browser longer than anything else on the page Profile.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import streamlit as st

_KEY = "charts_ahead"
_SCRIPTS = ("PlotlyChart", "DataFrame")

#: Loads what Streamlit's own page would load, from the same address, once in the life of the page.
_SCRIPT = """
export default function ({ data }) {
  const own = document.querySelector('script[type=module][src*="/static/js/"]')?.src
  if (!own || window.mixdeskChartsAhead) return
  window.mixdeskChartsAhead = true
  const load = () => { for (const name of data.scripts) import(new URL(name, own).href).catch(() => {}) }
  setTimeout(() => (window.requestIdleCallback ?? setTimeout)(load), 300)
}
"""


def draw() -> None:
    """Puts the loader on the page, where it takes no room."""
    loader = st.components.v2.component(
        _KEY, html="<span></span>", css=f".st-key-{_KEY} {{ display: none; }}", js=_SCRIPT, isolate_styles=False
    )
    loader(key=_KEY, data={"scripts": scripts()})


@cache
def scripts() -> list[str]:
    """The names of Streamlit's scripts for charts and tables; none where this version calls them otherwise."""
    folder = Path(st.__file__).parent / "static" / "static" / "js"
    return sorted(path.name for name in _SCRIPTS for path in folder.glob(f"{name}.*.js"))
