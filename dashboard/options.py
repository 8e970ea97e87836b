"""How the server is set up and how it looks; passed to Streamlit at the start, so that no file has to be found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
DEFAULT_HOST: Final = "127.0.0.1"
DEFAULT_PORT: Final = 8501

#: The largest upload in MB; larger files belong into a folder of the server. Checked again when the bytes arrive.
UPLOAD_LIMIT_MB: Final = 500

#: What always holds: local, no usage statistics, no look-up of an outside address, no stack trace on a page.
SERVER: Final[Mapping[str, Any]] = {
    "server.address": DEFAULT_HOST,
    "server.headless": True,
    "server.fileWatcherType": "none",
    "server.maxUploadSize": UPLOAD_LIMIT_MB,
    "server.enableAgentApi": False,
    "browser.gatherUsageStats": False,
    "client.toolbarMode": "minimal",
    "client.showErrorDetails": "none",
    "client.showErrorLinks": False,
}

#: The look: quiet and dense, one accent, grey structure. The accent carries white text and is the text of the chosen
#: tab or segment, on a tenth of itself. On a dark page no colour can do both with a contrast of 4.5: there the white
#: text has it, and the accent is darker than links are.
THEME: Final[Mapping[str, Any]] = {
    "theme.baseFontSize": 14,
    "theme.baseRadius": "small",
    "theme.buttonRadius": "small",
    "theme.headingFontSizes": ["1.5rem", "1.25rem", "1.1rem", "1rem", "0.9rem", "0.85rem"],
    "theme.headingFontWeights": [600, 600, 600, 600, 600, 600],
    "theme.metricValueFontSize": "1.4rem",
    "theme.paddingTop": "1rem",
    "theme.paddingBottom": "2rem",
    "theme.showWidgetBorder": True,
    "theme.light.primaryColor": "#0A736F",
    "theme.light.backgroundColor": "#FBFBF9",
    "theme.light.secondaryBackgroundColor": "#F1F1ED",
    "theme.light.textColor": "#1B1F23",
    "theme.light.borderColor": "#DCDDD8",
    "theme.light.linkColor": "#0B7A75",
    "theme.light.grayTextColor": "#666D73",
    "theme.dark.primaryColor": "#1B8379",
    "theme.dark.backgroundColor": "#101418",
    "theme.dark.secondaryBackgroundColor": "#181E24",
    "theme.dark.textColor": "#E6E9EC",
    "theme.dark.borderColor": "#2B333B",
    "theme.dark.linkColor": "#3FC1B0",
    "theme.dark.grayTextColor": "#9AA3AB",
}


def server_options(*, host: str = DEFAULT_HOST, port: int | None = None) -> dict[str, Any]:
    """What `App.run(config=...)` is given; without a port the first free one from 8501 upwards is taken."""
    options: dict[str, Any] = {**SERVER, **THEME, "server.address": host, "logger.hideWelcomeMessage": True}
    if host in LOOPBACK:
        options["server.allowedHosts"] = list(LOOPBACK)
    if port is not None:
        options["server.port"] = port
    return options


def allowed_hosts(host: str) -> list[str]:
    """Names under which the server answers: on the loopback only its own, so that no foreign page can reach in."""
    return [*LOOPBACK[:2], "[::1]"] if host in LOOPBACK else ["*"]
