"""Parameters: what every task is told, read from a job's JSON and checked once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from core.errors import RequestError
from core.recipe.precision import Precision
from core.recipe.recipe import read_precision
from core.runtime.settings import SessionSettings

Params = Mapping[str, Any]

DEFAULT_BUDGET_S = 10.0
"""How long a comparison measures where nobody says otherwise."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The model and data a task works on, and how they are run.

    `data` None stands for seeded synthetic inputs of `shapes`. `model` and `data` are content hashes of files in the
    workspace; the names are those that people gave them. `outputs` are those that count, with their weights (none: all,
    with weight 1 each).
    """

    model: str
    model_name: str | None
    origin: str | None
    data: str | None
    data_name: str | None
    threads: int
    batch: int
    seed: int
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    outputs: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def read(cls, params: Params) -> Self:
        """Reads and checks them.

        Raises:
            RequestError: one is missing or of the wrong kind.
        """
        return cls(
            model=_text(params, "model", required=True) or "",
            model_name=_text(params, "model_name"),
            origin=_text(params, "origin"),
            data=_text(params, "data"),
            data_name=_text(params, "data_name"),
            threads=read_whole(params, "threads", default=1, least=1),
            batch=read_whole(params, "batch", default=1, least=1),
            seed=read_whole(params, "seed", default=0, least=0),
            shapes=read_shapes(params),
            outputs=_outputs(params),
        )

    @property
    def settings(self) -> SessionSettings:
        """How its sessions are opened."""
        return SessionSettings(threads=self.threads)

    @property
    def weights(self) -> Mapping[str, float] | None:
        """The outputs that count, with their weights; None for all."""
        return self.outputs or None


def read_whole(params: Params, name: str, *, default: int, least: int) -> int:
    """A whole number of at least `least`, or the default where it is absent."""
    value = params.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise RequestError(f"'{name}' must be a whole number of at least {least}, not {value!r}.")
    return value


def read_seconds(params: Params, name: str, *, default: float) -> float:
    """A positive number of seconds, or the default where it is absent."""
    value = params.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise RequestError(f"'{name}' must be a positive number of seconds, not {value!r}.")
    return float(value)


def read_text(params: Params, name: str) -> str | None:
    """A text, or None where it is absent or empty."""
    return _text(params, name)


def read_pins(params: Params) -> dict[str, Precision]:
    """Layer -> precision that is settled.

    Raises:
        RequestError, RecipeError: no mapping, or no precision.
    """
    given = params.get("pins") or {}
    if not isinstance(given, Mapping):
        raise RequestError(f"'pins' must map layers to precisions, not {given!r}.")
    return {str(layer): read_precision(str(precision)) for layer, precision in given.items()}


def _text(params: Params, name: str, *, required: bool = False) -> str | None:
    value = params.get(name)
    if value is None or value == "":
        if required:
            raise RequestError(f"The job does not say its '{name}'.")
        return None
    if not isinstance(value, str):
        raise RequestError(f"'{name}' must be a text, not {value!r}.")
    return value


def read_shapes(params: Params) -> dict[str, tuple[int, ...]]:
    """Input name -> shape, from "shapes"; empty where it is absent.

    Raises:
        RequestError: no mapping of names to lists of whole numbers.
    """
    given = params.get("shapes") or {}
    if not isinstance(given, Mapping):
        raise RequestError(f"'shapes' must map input names to lists of whole numbers, not {given!r}.")
    shapes: dict[str, tuple[int, ...]] = {}
    for name, shape in given.items():
        if not isinstance(shape, list | tuple) or not all(type(size) is int and size >= 0 for size in shape):
            raise RequestError(f"The shape of '{name}' must be a list of whole numbers, not {shape!r}.")
        shapes[str(name)] = tuple(shape)
    return shapes


def _outputs(params: Params) -> dict[str, float]:
    given = params.get("outputs") or {}
    if not isinstance(given, Mapping):
        raise RequestError(f"'outputs' must map output names to weights, not {given!r}.")
    for name, weight in given.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < float("inf"):
            hint = "A weight of 2 counts an output's noise twice; leave an output out and it does not count."
            raise RequestError(f"The weight of output '{name}' must be a number above 0, not {weight!r}.", hint=hint)
    return {str(name): float(weight) for name, weight in given.items()}
