"""Structure: what a model's layers are called and look like, without its weights: enough to know it again.

A recipe that is taken away carries the structure it was made for, so that it can be re-applied to a retrained model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import RecipeError
from core.graph.layer import LayerTable


@dataclass(frozen=True, slots=True)
class Place:
    """One layer: its id, operator and group, and how many numbers its weights hold (None: not known).

    Shapes of values are no part of it: they depend on the data at hand.
    """

    id: str
    op: str
    group: str
    parameters: int | None = None

    @property
    def signature(self) -> tuple[str, int | None]:
        """What two layers have in common that differ by name only."""
        return (self.op, self.parameters)

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON of `made_for`."""
        return {"id": self.id, "op": self.op, "group": self.group, "parameters": self.parameters}


@dataclass(frozen=True, slots=True)
class Structure:
    """All layers of a model in graph order. `model` and `sha256` say which one it was; None where nobody knows."""

    places: tuple[Place, ...]
    model: str | None = None
    sha256: str | None = None

    def __iter__(self) -> Iterator[Place]:
        return iter(self.places)

    def to_dict(self) -> dict[str, Any]:
        """The JSON of `made_for`."""
        return {"model": self.model, "sha256": self.sha256, "layers": [place.to_dict() for place in self.places]}

    @classmethod
    def of(cls, table: LayerTable, *, model: str | None = None, sha256: str | None = None) -> Structure:
        """That of a model at hand."""
        places = tuple(Place(layer.id, layer.op_type, layer.group, layer.parameters) for layer in table)
        return cls(places, model, sha256)

    @classmethod
    def from_dict(cls, document: Any) -> Structure:
        """Reads the JSON of `made_for`; rows of a result's `layers` do as well, though they say less.

        Raises:
            RecipeError: it is none.
        """
        rows = document.get("layers") if isinstance(document, Mapping) else None
        if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
            raise RecipeError("The recipe's 'made_for' is not a structure.", hint="Leave it out.")
        try:
            return cls(tuple(_read(rows)), document.get("model"), document.get("sha256"))
        except (KeyError, TypeError, ValueError) as error:
            message = f"The recipe's 'made_for' has a layer that cannot be read ({error})."
            raise RecipeError(message, hint="Leave it out.") from error


def _read(rows: Iterable[Mapping[str, Any]]) -> Iterator[Place]:
    for row in rows:
        parameters = row.get("parameters")
        yield Place(str(row["id"]), str(row["op"]), str(row["group"]), None if parameters is None else int(parameters))
