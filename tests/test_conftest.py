"""The shared fixtures: a missing service is skipped with a clear line, or fails where it is required."""

from __future__ import annotations

from types import ModuleType

import pytest

from tests.conftest import constants, missing_service


def test_a_missing_service_skips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MIXDESK_REQUIRE_SERVICES", raising=False)
    with pytest.raises(pytest.skip.Exception, match="chromium is not on the path"):
        missing_service("chromium is not on the path")


def test_a_missing_service_fails_where_services_are_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIXDESK_REQUIRE_SERVICES", "1")
    with pytest.raises(pytest.fail.Exception, match="MIXDESK_REQUIRE_SERVICES"):
        missing_service("chromium is not on the path")


def test_a_constant_changed_in_place_is_seen() -> None:
    module = ModuleType("tests.made_up")
    vars(module).update({"TABLE": {"a": [1]}, "NAME": "x", "helper": [1]})
    before = constants({"tests.made_up": module, "elsewhere": module})
    assert set(before) == {"tests.made_up.TABLE"}
    vars(module)["TABLE"]["a"].append(2)
    assert constants({"tests.made_up": module}) != before
