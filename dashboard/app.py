"""The server: Streamlit's pages, our routes beside them, and the supervisor that runs jobs while it lives."""

from __future__ import annotations

import importlib
import logging
import pkgutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware

from dashboard import services, widgets
from dashboard.options import DEFAULT_HOST, allowed_hosts
from dashboard.routes import all_routes
from dashboard.settled import settle
from dashboard.warm import warm_up

MAIN = Path(__file__).with_name("main.py")

_log = logging.getLogger("mixdesk.dashboard")


def create_app(
    *, workspace: Path | None = None, host: str = DEFAULT_HOST, ready: Callable[[], None] | None = None
) -> st.App:
    """The application for one workspace; jobs run as long as it is up. `ready` is called once, when it answers."""
    return st.App(MAIN, **_parts(workspace, host, ready))


def _parts(
    workspace: Path | None = None, host: str = DEFAULT_HOST, ready: Callable[[], None] | None = None
) -> dict[str, Any]:
    @asynccontextmanager
    async def lifespan(_: st.App) -> AsyncIterator[None]:
        services.start(workspace)
        _import_widgets()
        warm_up()
        settle()
        if ready is not None:
            ready()
        try:
            yield
        finally:
            services.close()

    return {
        "lifespan": lifespan,
        "routes": all_routes(),
        "middleware": [Middleware(TrustedHostMiddleware, allowed_hosts=allowed_hosts(host))],
        "on_script_error": say_what_happened,
    }


def say_what_happened(error: Exception) -> bool:
    """A fault of ours on a page: logged in full, told in one sentence, never as a stack trace."""
    _log.error("A page failed", exc_info=error)
    st.error(
        "This page failed to draw: a fault in Mixdesk, not in your model. Your models, jobs and results are safe: "
        "reload the page to go on. The server's log has the details.",
        icon=":material/error:",
    )
    return True


def _import_widgets() -> None:
    """Imports what the pages will need, so that the first visitor does not wait for it."""
    for module in pkgutil.iter_modules(widgets.__path__):
        importlib.import_module(f"{widgets.__name__}.{module.name}")


#: What `streamlit run dashboard/app.py` serves; it looks for just this form of assignment.
app = st.App(MAIN, **_parts())
