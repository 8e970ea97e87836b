"""Request: the options that commands share, read and checked before any work begins."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.cli import answer
from core.errors import RequestError, TargetError

_DIMENSION = re.compile(r"[x,]")
#: One input with its shape; an input's name may hold a colon or a comma.
_SHAPE_OF = re.compile(r"([^,].*?):((?:\d+(?:x\d+)*)?)(?:,|$)")


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked besides the models: data, how to run, where to keep, how to answer."""

    data: Path | None = None
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    threads: int = 1
    batch: int = 1
    seed: int = 0
    time_budget_s: float | None = None
    target: str | None = None
    workspace: Path | None = None
    as_json: bool = False
    outputs: Mapping[str, float] = field(default_factory=dict)
    preprocessing: Path | None = None
    tokenizer: Path | None = None
    limit: int | None = None

    def params(self) -> dict[str, Any]:
        """Those that every job is told."""
        return {
            "threads": self.threads,
            "batch": self.batch,
            "seed": self.seed,
            "shapes": {name: list(shape) for name, shape in self.shapes.items()},
            "outputs": dict(self.outputs),
        }


def read_request(
    *,
    data: Path | None,
    preprocessing: Path | None = None,
    tokenizer: Path | None = None,
    limit: int | None = None,
    shape: Sequence[str] | None,
    threads: int,
    batch: int,
    seed: int,
    time_budget: float | None,
    target: str | None,
    output: Sequence[str] | None,
    workspace: Path | None,
    as_json: bool,
) -> Request:
    """Reads the shared options.

    Raises:
        RequestError: a shape, an output or a time cannot be read.
        TargetError: the target is empty.
    """
    if time_budget is not None and not 0 < time_budget < float("inf"):
        raise RequestError(f"--time-budget takes a positive number of seconds, not {time_budget:g}.")
    if target is not None and not target.strip():
        raise TargetError("The target is empty.", hint="Leave --target out, or write one like 'accuracy>=99%'.")
    shapes = dict(read_shape(text) for text in shape or ())
    outputs = read_outputs(output)
    return Request(
        data=data,
        shapes=shapes,
        threads=threads,
        batch=batch,
        seed=seed,
        time_budget_s=time_budget,
        target=target,
        workspace=workspace,
        as_json=as_json,
        outputs=outputs,
        preprocessing=preprocessing,
        tokenizer=tokenizer,
        limit=limit,
    )


def read_shape(text: str) -> tuple[str, tuple[int, ...]]:
    """Reads "NAME=1x3x224x224" ("NAME=" is a scalar).

    Raises:
        RequestError: it is not of that form.
    """
    name, equals, sizes = text.rpartition("=")
    parts = [part.strip() for part in _DIMENSION.split(sizes)] if sizes.strip() else []
    if not name or not equals or not all(part.isdecimal() for part in parts):
        raise RequestError(f"'{text}' is not a shape.", hint="Write --shape NAME=1x3x224x224.")
    return name, tuple(int(part) for part in parts)


def read_named_shapes(texts: Sequence[str] | None) -> list[dict[str, Any]]:
    """Reads "NAME=INPUT:1x64,INPUT2:1x64" entries; an input may be left out, and "INPUT:" is a scalar.

    Raises:
        RequestError: one is not of that form.
    """
    return [_read_named(text) for text in texts or ()]


def _read_named(text: str) -> dict[str, Any]:
    name, _, shapes = text.partition("=")
    found = list(_SHAPE_OF.finditer(shapes))
    whole = "".join(each[0] for each in found) == shapes and not shapes.endswith(",")
    if not name or not found or not whole:
        raise RequestError(f"'{text}' is not a named shape.", hint="Write --at NAME=INPUT:1x64,INPUT2:1x64.")
    return {"name": name, "shapes": {each[1]: [int(size) for size in each[2].split("x") if size] for each in found}}


def read_outputs(outputs: Sequence[str] | None) -> dict[str, float]:
    """Reads "NAME" and "NAME=WEIGHT" entries; a name may itself hold an equals sign where a weight follows it.

    Raises:
        RequestError: a weight that is no number above 0, or two weights for one output.
    """
    read: dict[str, float] = {}
    for text in outputs or ():
        name, weight = _read_output(text)
        if read.setdefault(name, weight) != weight:
            raise RequestError(f"The output '{name}' is given the weights {read[name]:g} and {weight:g}.")
    return read


def _read_output(text: str) -> tuple[str, float]:
    name, equals, number = text.rpartition("=")
    if not equals:
        name, number = text, "1"
    try:
        weight = float(number)
    except ValueError:
        weight = 0.0
    if not name or not 0 < weight < float("inf"):
        hint = "Write --output NAME or --output NAME=WEIGHT with a number above 0. (The file to write is -o.)"
        raise RequestError(f"'{text}' is not an output with a weight.", hint=hint)
    return name, weight


def read_pins(pins: Sequence[str] | None) -> dict[str, str]:
    """Reads "LAYER=PRECISION" entries; layer ids may themselves hold an equals sign.

    Raises:
        RequestError: it is not of that form, or a layer is pinned twice to different precisions.
    """
    read: dict[str, str] = {}
    for text in pins or ():
        layer, equals, precision = text.rpartition("=")
        if not layer or not equals or not precision:
            raise RequestError(f"'{text}' is not a pin.", hint="Write --pin LAYER=PRECISION, for example conv1=fp32.")
        if read.setdefault(layer, precision) != precision:
            raise RequestError(f"The layer '{layer}' is pinned to {read[layer]} and to {precision}.", layer=layer)
    if read:
        from core.recipe.recipe import read_precision

        for precision in read.values():
            read_precision(precision)
    return read


def tell_unused(command: str, options: Mapping[str, bool]) -> None:
    """Says which of the given options have no effect on this command: nothing asked is ignored in silence."""
    for option, given in options.items():
        if given:
            answer.note(f"{option} has no effect on '{command}'.")
