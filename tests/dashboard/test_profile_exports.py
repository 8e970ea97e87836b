"""The buttons under the layer table hand out what other programs open; an old profile says what it lacks."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from dashboard.widgets import profile_exports
from tests.report.profiles import inspection, profile


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, Any]]:
    """Label -> what its button was drawn with."""
    found: dict[str, dict[str, Any]] = {}

    def button(label: str, data: Callable[[], str], **how: Any) -> None:
        found[label] = {"data": data, **how}

    monkeypatch.setattr("streamlit.download_button", button)
    return found


def test_every_file_is_made_when_it_is_asked_for(drawn: dict[str, dict[str, Any]]) -> None:
    profile_exports.exports(profile(), inspection(), "My model")
    assert list(drawn) == ["Layers as CSV", "Profile as JSON", "Run as trace", "For Netron", "For Model Explorer"]
    told = {label: json.loads(made["data"]()) for label, made in drawn.items() if label != "Layers as CSV"}
    assert told["Profile as JSON"] == json.loads(json.dumps(profile()))
    assert told["Run as trace"]["otherData"]["model"] == "My model"
    assert told["For Netron"]["signature"] == "netron:attachment"
    assert "conv" in told["For Model Explorer"]["main_graph"]["results"]
    names = [made["file_name"] for made in drawn.values()]
    assert len(set(names)) == len(names)
    assert all(not made.get("disabled") for made in drawn.values())


def test_a_profile_without_a_timeline_offers_no_trace_and_says_why(drawn: dict[str, dict[str, Any]]) -> None:
    old = {key: value for key, value in profile().items() if key != "timeline"}
    profile_exports.exports(old, inspection(), "m")
    assert drawn["Run as trace"]["disabled"]
    assert "profile again" in drawn["Run as trace"]["help"]
    assert not drawn["For Netron"]["disabled"]
