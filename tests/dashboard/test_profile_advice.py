"""Advice on the Profile page: its layers can be chosen, its change applied to the mix or the strip, and taken back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import state
from tests.dashboard.documents import profile_document
from tests.dashboard.faked import PAGES, Desk, press, texts

LAYER = "stem/conv"
TOLD = {"rule": "one layer dominates", "evidence": "E.", "consequence": "C.", "remedy": "R.", "layers": [LAYER]}
RULE = {"match": f"group:{LAYER}", "precision": "int8", "options": {}, "why": "advice"}


def _desk(table: Callable[..., Desk], change: Any, **documents: Any) -> Desk:
    desk = table(**documents)
    profile = profile_document(desk.inspection)
    desk.profile = {**profile, "advice": [{**TOLD, "change": change}]}
    return desk


def _page() -> AppTest:
    app = AppTest.from_file(str(PAGES / "profile.py"), default_timeout=30)
    app.session_state["profile.tabs"] = "Advice 1"
    app.run()
    assert not app.exception, app.exception
    return app


def _keys(app: AppTest) -> set[str]:
    return {button.key for button in app.button if button.key}


def test_a_change_goes_into_the_mix_is_told_and_can_be_taken_back(table: Callable[..., Desk]) -> None:
    desk = _desk(table, {"rules": [RULE], "session": {}})
    app = _page()
    assert f"{LAYER} to int8" in texts(app)
    app = press(app, "advice.0.apply")
    assert desk.draft is not None
    assert [rule["match"] for rule in desk.draft["rules"]] == [f"group:{LAYER}"]
    assert f"1 group now in int8: {LAYER}." in texts(app)
    assert "advice.0.mix" in _keys(app)
    app = press(app, "advice.0.undo")
    assert desk.draft["rules"] == []
    assert "now in int8" not in texts(app)


def test_int8_waits_until_the_machine_is_known(table: Callable[..., Desk]) -> None:
    _desk(table, {"rules": [RULE], "session": {}}, machine=None)
    app = _page()
    assert app.button(key="advice.0.apply").disabled
    assert "advice.0.probe" in _keys(app)


def test_fp32_does_not_wait_for_the_machine(table: Callable[..., Desk]) -> None:
    _desk(table, {"rules": [{**RULE, "precision": "fp32"}], "session": {}}, machine=None)
    assert not _page().button(key="advice.0.apply").disabled


def test_threads_and_batch_are_set_on_the_strip(table: Callable[..., Desk]) -> None:
    _desk(table, {"rules": [], "session": {"threads": 2, "batch": 4}})
    app = press(_page(), "advice.0.apply")
    assert app.session_state[state.THREADS.name] == "2"
    assert app.session_state[state.BATCH.name] == "4"
    assert "2 threads; batch 4" in str(app.session_state[state.TOLD.name])


def test_a_layer_of_an_advice_becomes_the_chosen_one(table: Callable[..., Desk]) -> None:
    _desk(table, None)
    app = press(_page(), "advice.0.layer0")
    assert app.session_state[state.LAYER.name] == LAYER


@pytest.mark.parametrize("missing", [("change",), ("change", "layers")])
def test_advice_of_an_older_profile_has_no_button(table: Callable[..., Desk], missing: tuple[str, ...]) -> None:
    desk = _desk(table, None)
    assert desk.profile is not None
    for name in missing:
        del desk.profile["advice"][0][name]
    app = _page()
    assert "What to do: R." in texts(app)
    assert "advice.0.apply" not in _keys(app)


def test_a_change_that_no_longer_fits_the_model_is_told(table: Callable[..., Desk]) -> None:
    desk = _desk(table, {"rules": [{**RULE, "match": "group:gone"}], "session": {}})
    app = press(_page(), "advice.0.apply")
    assert desk.draft is None
    assert "no group 'gone'" in str(app.session_state[state.NOTICE.name])
    assert app.session_state[state.APPLIED.name] == {}
