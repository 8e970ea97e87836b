from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from core.store.units import Codec, Units, as_is
from core.store.workspace import Workspace

NUMBER: Codec[float] = Codec(lambda value: {"n": value}, lambda stored: float(stored["n"]))


class Shelf:
    """A cache in memory."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, Any]] = {}
        self.models: set[str | None] = set()

    def cache_get(self, key: str) -> dict[str, Any] | None:
        return self.rows.get(key)

    def cache_put(self, key: str, value: Mapping[str, Any], *, model: str | None = None) -> None:
        self.rows[key] = dict(value)
        self.models.add(model)


class Clock:
    """Every look at it is a second later."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def _never() -> float:
    raise AssertionError("this unit is finished")


def test_what_is_finished_is_not_done_again_and_its_seconds_count_as_before() -> None:
    shelf = Shelf()
    first = Units(shelf, {"model": "m"}, clock=Clock(), processor=Clock())
    assert first.get_or("solo", {"group": "a"}, lambda: 0.1 + 0.2, codec=NUMBER) == 0.1 + 0.2
    again = Units(shelf, {"model": "m"}, clock=Clock())
    assert again.get_or("solo", {"group": "a"}, _never, codec=NUMBER) == 0.1 + 0.2
    assert (first.computed, first.reused, again.computed, again.reused) == (1, 0, 0, 1)
    assert first.spent_s == again.spent_s == 1.0
    assert first.worked_s == again.worked_s == 1.0


def test_the_key_is_the_content_and_not_the_order_in_which_it_is_told() -> None:
    shelf = Shelf()
    Units(shelf, {"model": "m", "seed": 0}).get_or("mix", {"a": 1, "b": [2]}, lambda: 1.0, codec=NUMBER)
    same = Units(shelf, {"seed": 0, "model": "m"})
    assert same.get_or("mix", {"b": (2,), "a": 1}, _never, codec=NUMBER) == 1.0


@pytest.mark.parametrize(
    ("holds", "kind", "key"),
    [({"seed": 1}, "mix", {"a": 1}), ({"seed": 0}, "solo", {"a": 1}), ({"seed": 0}, "mix", {"a": 2})],
)
def test_whatever_it_depends_on_makes_another_unit(holds: dict[str, Any], kind: str, key: dict[str, Any]) -> None:
    shelf = Shelf()
    Units(shelf, {"seed": 0}).get_or("mix", {"a": 1}, lambda: 1.0, codec=NUMBER)
    other = Units(shelf, holds)
    assert other.get_or(kind, key, lambda: 2.0, codec=NUMBER) == 2.0
    assert other.computed == 1


@pytest.mark.parametrize(
    "damage",
    [
        {"value": {"n": 7.0}},
        {"value": {}},
        {"value": None},
        {"check": "0"},
        {"seconds": None},
        {"worked": None},
    ],
)
def test_a_damaged_unit_is_done_again_and_stored_anew(damage: dict[str, Any]) -> None:
    shelf = Shelf()
    Units(shelf, {}).get_or("mix", {}, lambda: 1.0, codec=NUMBER)
    (place,) = shelf.rows
    sound = dict(shelf.rows[place])
    shelf.rows[place].update(damage)
    repaired = Units(shelf, {})
    assert repaired.get_or("mix", {}, lambda: 1.0, codec=NUMBER) == 1.0
    assert repaired.computed == 1
    assert shelf.rows[place]["value"] == sound["value"]
    assert Units(shelf, {}).get_or("mix", {}, _never, codec=NUMBER) == 1.0


def test_a_unit_whose_text_is_no_longer_readable_is_done_again() -> None:
    class Broken(Shelf):
        def cache_get(self, key: str) -> dict[str, Any] | None:
            raise ValueError("not JSON")

    assert Units(Broken(), {}).get_or("mix", {}, lambda: 1.0, codec=NUMBER) == 1.0


def test_what_is_not_worth_keeping_is_not_kept() -> None:
    shelf = Shelf()
    Units(shelf, {}).get_or("mix", {}, lambda: 1.0, codec=NUMBER, keep=lambda value: value > 1)
    assert not shelf.rows


def test_what_comes_before_is_called_only_where_there_is_work_and_is_not_timed() -> None:
    shelf, called = Shelf(), list[str]()
    clock = Clock()
    units = Units(shelf, {}, clock=clock)

    def before() -> None:
        called.append("before")
        clock()

    units.get_or("mix", {}, lambda: 1.0, codec=NUMBER, before=before)
    assert units.spent_s == 1.0
    Units(shelf, {}).get_or("mix", {}, _never, codec=NUMBER, before=lambda: called.append("again"))
    assert called == ["before"]


def test_without_a_store_everything_is_computed() -> None:
    units = Units.unkept()
    assert [units.get_or("mix", {}, lambda: 1.0, codec=NUMBER) for _ in range(2)] == [1.0, 1.0]
    assert units.computed == 2


def test_the_document_shows_the_key_and_what_it_holds() -> None:
    units = Units(Shelf(), {"model": "m", "seed": 3})
    told = units.to_dict()
    assert told["holds"] == {"model": "m", "seed": 3}
    assert told["key"] == units.key
    assert len(units.key) == 12
    assert units.key != Units(Shelf(), {"model": "m", "seed": 4}).key


def test_a_workspace_keeps_units_with_their_model(tmp_path: Any) -> None:
    with Workspace.open(tmp_path / "w") as workspace:
        value = {"rows": [1, 2.5, None], "text": "ü"}
        Units(workspace, {"seed": 0}, model="a" * 64).get_or("profile", {}, lambda: value, codec=as_is())
    with Workspace.open(tmp_path / "w") as workspace:
        units = Units(workspace, {"seed": 0}, model="a" * 64)
        assert units.get_or("profile", {}, dict, codec=as_is()) == value
        assert units.reused == 1
