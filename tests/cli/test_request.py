"""Shared options are read to the letter, or refused."""

from __future__ import annotations

import pytest

from core.cli.request import read_named_shapes, read_outputs, read_pins, read_request, read_shape, tell_unused
from core.errors import RequestError, TargetError


@pytest.mark.parametrize(
    ("text", "name", "shape"),
    [
        ("x=1x3x224x224", "x", (1, 3, 224, 224)),
        ("a=b=2x3", "a=b", (2, 3)),
        ("x=1,3", "x", (1, 3)),
        ("scalar=", "scalar", ()),
        ("x=0x5", "x", (0, 5)),
    ],
)
def test_a_shape_is_read(text: str, name: str, shape: tuple[int, ...]) -> None:
    assert read_shape(text) == (name, shape)


@pytest.mark.parametrize("text", ["x", "=1x2", "x=1x", "x=-1x3", "x=ax3", "x=1.5"])
def test_what_is_no_shape_is_refused(text: str) -> None:
    with pytest.raises(RequestError, match="is not a shape"):
        read_shape(text)


@pytest.mark.parametrize(
    ("given", "read"),
    [(None, {}), (["y"], {"y": 1.0}), (["y=2", "z=0.5"], {"y": 2.0, "z": 0.5}), (["a=b=3"], {"a=b": 3.0})],
)
def test_an_output_may_have_a_weight(given: list[str] | None, read: dict[str, float]) -> None:
    assert read_outputs(given) == read


@pytest.mark.parametrize("given", [["y=0"], ["y=-1"], ["y=x"], ["=2"], [""], ["y=nan"], ["y=inf"], ["y=1", "y=2"]])
def test_an_output_without_a_sound_weight_is_refused(given: list[str]) -> None:
    with pytest.raises(RequestError):
        read_outputs(given)


def test_a_pin_splits_at_its_last_equals_sign() -> None:
    assert read_pins(["a=b=int8", "conv1=fp32"]) == {"a=b": "int8", "conv1": "fp32"}


def test_a_layer_cannot_be_pinned_twice_to_different_precisions() -> None:
    with pytest.raises(RequestError, match="pinned to int8 and to fp32"):
        read_pins(["conv1=int8", "conv1=fp32"])


def test_an_option_without_effect_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    tell_unused("inspect", {"--target": True, "--time-budget": False})
    assert capsys.readouterr().err == "note: --target has no effect on 'inspect'.\n"


def test_an_empty_target_is_refused_and_not_taken_for_none() -> None:
    with pytest.raises(TargetError, match="The target is empty"):
        read_request(
            data=None,
            shape=None,
            threads=1,
            batch=1,
            seed=0,
            time_budget=None,
            target=" ",
            output=None,
            workspace=None,
            as_json=False,
        )


def test_named_shapes_are_read_with_all_their_inputs() -> None:
    read = read_named_shapes(["short=x:1x16,mask:0:1x16", "one=s:", "n=ids:7"])
    assert read == [
        {"name": "short", "shapes": {"x": [1, 16], "mask:0": [1, 16]}},
        {"name": "one", "shapes": {"s": []}},
        {"name": "n", "shapes": {"ids": [7]}},
    ]
    assert read_named_shapes(None) == []


@pytest.mark.parametrize("text", ["short", "short=", "=x:1", "short=x", "short=x:ax1", "short=x:1x", "short=x:1,,y:2"])
def test_what_is_no_named_shape_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(RequestError, match="is not a named shape") as told:
        read_named_shapes([text])
    assert "--at NAME=INPUT:1x64" in str(told.value.hint)
