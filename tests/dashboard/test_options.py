"""The options that the server passes itself and the file that serves `streamlit run` say the same."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from streamlit import config

from dashboard import options
from dashboard.chips import CONTRAST, luminance
from dashboard.figures.theme import heat_color

FILE = Path(__file__).resolve().parents[2] / ".streamlit" / "config.toml"


def flat(section: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in section.items():
        if isinstance(value, Mapping):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def test_the_file_and_the_options_agree() -> None:
    assert dict(flat(tomllib.loads(FILE.read_text(encoding="utf-8")))) == {**options.SERVER, **options.THEME}


def test_streamlit_knows_every_option() -> None:
    known = set(config._config_options_template)
    assert set(options.server_options(host="0.0.0.0", port=1)) <= known


def test_nothing_is_sent_and_only_this_machine_is_served_unless_told_otherwise() -> None:
    given = options.server_options()
    assert given["server.address"] == "127.0.0.1"
    assert given["browser.gatherUsageStats"] is False
    assert given["server.allowedHosts"] == ["127.0.0.1", "localhost", "::1"]
    assert "server.port" not in given


def test_a_server_for_others_answers_under_any_name() -> None:
    assert options.allowed_hosts("0.0.0.0") == ["*"]
    assert "server.allowedHosts" not in options.server_options(host="0.0.0.0", port=80)


@pytest.mark.parametrize(("kind", "least"), [("light", CONTRAST), ("dark", 3.6)])
def test_the_chosen_tab_and_segment_can_be_read_as_well_as_white_text_on_the_accent_allows(
    kind: str, least: float
) -> None:
    accent, page = (options.THEME[f"theme.{kind}.{name}Color"] for name in ("primary", "background"))
    for behind in (page, heat_color(((0.0, page), (1.0, accent)), 0.1)):
        light, dark = sorted((luminance(accent), luminance(behind)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= least


@pytest.mark.parametrize("kind", ["light", "dark"])
def test_white_text_on_the_accent_can_be_read(kind: str) -> None:
    assert 1.05 / (luminance(options.THEME[f"theme.{kind}.primaryColor"]) + 0.05) >= CONTRAST
