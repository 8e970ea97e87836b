"""Not yet: what later versions bring is refused with a sentence, never ignored."""

from __future__ import annotations

from typing import NoReturn

from core.errors import RequestError, UnavailableError, did_you_mean

_OBJECTIVES = ("latency", "size", "memory", "energy", "fidelity")
_CACHES = ("auto", "none", "session", "result")


def refuse(what: str, *, instead: str | None = None) -> NoReturn:
    """Refuses a command or an option of a later version.

    Raises:
        UnavailableError: always.
    """
    raise UnavailableError(f"{what} is not in this version yet.", hint=instead)


def check_objective(objective: str) -> None:
    """Only latency can be asked for in this version."""
    _check_known("objective", objective, _OBJECTIVES)
    if objective != "latency":
        refuse(f"--objective {objective}", instead="This version optimizes latency: leave --objective out.")


def check_cache(strategy: str) -> None:
    """Only a model without caches can be asked for in this version."""
    _check_known("cache", strategy, _CACHES)
    if strategy != "none":
        refuse(f"--cache {strategy}", instead="Leave --cache out, or say --cache none.")


def check_dynamic(asked: bool) -> None:
    """Dynamic graphs (early exits, cascades) come later."""
    if asked:
        refuse("--dynamic-graph", instead="Leave it out: precision is chosen layer by layer without it.")


def _check_known(option: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        message = f"--{option} cannot be '{value}'.{did_you_mean(value, known)}"
        raise RequestError(message, hint=f"It takes {', '.join(known)}.")
