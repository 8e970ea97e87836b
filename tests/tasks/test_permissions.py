"""What is allowed is answered in the document; what is asked for and not there is refused."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import RequestError, UnavailableError
from core.progress import Silent
from core.store.workspace import Workspace
from core.tasks.optimize import optimize
from core.tasks.permissions import check_objective, dynamic_part, session_part


def test_nothing_allowed_leaves_both_parts_empty() -> None:
    assert dynamic_part({}) == session_part({}) == {}
    assert dynamic_part({"dynamic_graph": False}) == session_part({"cache": "none"}) == {}


def test_a_permission_is_answered_with_what_was_built_and_why_not() -> None:
    for part in (dynamic_part({"dynamic_graph": True}), session_part({"cache": "auto"})):
        assert part["allowed"]
        assert part["built"] == []
        assert part["why"].startswith("This version builds no ")


@pytest.mark.parametrize("strategy", ["session", "result"])
def test_a_certain_cache_is_refused(strategy: str) -> None:
    with pytest.raises(UnavailableError, match=f"{strategy} cache"):
        session_part({"cache": strategy})


def test_an_objective_of_a_later_version_is_refused_and_an_unknown_one_is_a_mistake() -> None:
    check_objective({"objective": "latency"})
    check_objective({})
    with pytest.raises(UnavailableError, match="size"):
        check_objective({"objective": "size"})
    with pytest.raises(RequestError, match="Did you mean 'latency'"):
        check_objective({"objective": "latenzy"})


def test_words_that_mean_nothing_are_mistakes() -> None:
    with pytest.raises(RequestError, match="true or false"):
        dynamic_part({"dynamic_graph": "yes"})
    with pytest.raises(RequestError, match="Did you mean 'auto'"):
        session_part({"cache": "autom"})


@pytest.mark.usefixtures("unprobed")
@pytest.mark.xdist_group("timing")
def test_the_optimize_document_carries_the_answers(store: Workspace, network: dict[str, Any]) -> None:
    params = {**network, "target": "sqnr>=199", "time_budget_s": 1, "precision": "int8"}
    document = optimize(store, {**params, "dynamic_graph": True, "cache": "auto"}, Silent())
    assert document["dynamic"]["built"] == document["session"]["built"] == []
