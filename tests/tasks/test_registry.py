"""Every kind of work has its module and function, and they are the ones that the pages and commands ask for."""

from __future__ import annotations

import pytest

from core.errors import RequestError
from core.tasks.registry import KINDS, find_task


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_function_of_its_name(kind: str) -> None:
    task = find_task(kind)
    assert task.__name__ == kind
    assert task.__module__ == f"core.tasks.{kind}"


def test_an_unknown_kind_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(RequestError, match="Did you mean 'profile'"):
        find_task("profil")
