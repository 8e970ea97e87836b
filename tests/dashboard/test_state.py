"""The link and the session agree: an opened link wins, a changed page loses nothing."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest


def shown() -> None:
    import streamlit as st

    from dashboard import state

    state.follow_link()
    chosen = st.text_input("layer", key="choose")
    if chosen:
        state.LAYER.set(chosen)
    if st.button("other model"):
        state.choose_model("b" * 64, data="c" * 64)
    st.json({key.param: key.get() for key in state.LINK_KEYS})
    st.json({"link": state.link()})


def values(app: AppTest) -> dict[str, str | None]:
    assert not app.exception
    found: dict[str, str | None] = json.loads(app.json[0].value)
    return found


def opened(**params: str) -> AppTest:
    app = AppTest.from_function(shown)
    for name, value in params.items():
        app.query_params[name] = value
    return app.run()


def param(app: AppTest, name: str) -> str | None:
    given = app.query_params.get(name)
    return given[0] if isinstance(given, list) else given


def test_an_opened_link_sets_the_view() -> None:
    app = opened(model="0123456789ab", layer="block/conv1")
    assert values(app)["model"] == "0123456789ab"
    assert values(app)["layer"] == "block/conv1"
    assert values(app)["candidate"] is None


def test_a_choice_is_written_into_the_address() -> None:
    app = opened(model="0123456789ab")
    app.text_input(key="choose").set_value("conv2").run()
    assert param(app, "layer") == "conv2"


def test_an_address_that_the_browser_had_a_moment_ago_does_not_undo_a_choice() -> None:
    app = opened(model="0123456789ab", layer="conv1")
    app.text_input(key="choose").set_value("conv2").run()
    app.text_input(key="choose").set_value("").run()
    app.query_params["layer"] = "conv1"  # sent before the browser heard of conv2
    app.run()
    assert values(app)["layer"] == "conv2"
    assert param(app, "layer") == "conv2"


def test_the_back_button_wins_over_a_choice_that_is_older(monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(model="0123456789ab", layer="conv1")
    app.text_input(key="choose").set_value("conv2").run()
    app.text_input(key="choose").set_value("").run()
    monkeypatch.setattr("dashboard.state._STALE_S", 0.0)
    app.query_params["layer"] = "conv1"
    app.run()
    assert values(app)["layer"] == "conv1"


def test_a_page_change_that_empties_the_address_loses_nothing() -> None:
    app = opened(model="0123456789ab", layer="conv1")
    for name in list(app.query_params):
        del app.query_params[name]
    app.run()
    assert values(app)["layer"] == "conv1"
    assert param(app, "model") == "0123456789ab"


def test_another_link_in_the_same_session_wins() -> None:
    app = opened(model="0123456789ab", layer="conv1")
    app.query_params["layer"] = "conv9"
    app.run()
    assert values(app)["layer"] == "conv9"


def test_another_model_takes_the_layer_off_the_desk_and_shortens_hashes() -> None:
    app = opened(model="0123456789ab", layer="conv1", candidate="abc", shapes="x:1x2")
    app.button[0].click().run()
    found = values(app)
    assert found["model"] == "b" * 12
    assert found["data"] == "c" * 12
    assert found["layer"] is None
    assert found["candidate"] is None
    assert found["shapes"] is None
    assert param(app, "layer") is None


def shapes() -> None:
    import streamlit as st

    from dashboard import state

    state.follow_link()
    st.json({name: list(shape) for name, shape in state.shapes().items()})
    state.choose_shapes({"a:b,c": (1, 3), "x": (2, 5, 7)})
    st.json({name: list(shape) for name, shape in state.shapes().items()})


def test_shapes_travel_in_the_link_whatever_the_inputs_are_called() -> None:
    app = AppTest.from_function(shapes)
    app.query_params["shapes"] = "x:1x3x8x8,broken,y:2xZ,:4"
    app.run()
    assert not app.exception
    assert json.loads(app.json[0].value) == {"x": [1, 3, 8, 8]}
    assert json.loads(app.json[1].value) == {"a:b,c": [1, 3], "x": [2, 5, 7]}
