"""Growth: what a model and each of its layers cost at several named shapes of its inputs.

One pair of sessions serves all shapes, which are run in turn, so that a drift of the machine hits all alike. Inputs are
synthetic: data has the shape it has. How a layer grows is the exponent e of `ms = a * elements ** e`, by least squares
on the logarithms, where `elements` counts those of all inputs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import compress
from typing import Any

import numpy as np

from core.errors import DataError, MixdeskError, RequestError
from core.graph.layer import LayerTable
from core.graph.read import read_layers
from core.intake.dataset import synthetic_dataset
from core.intake.model import Model
from core.intake.synthetic import resolve_shapes
from core.measure.assemble import Measured, assemble
from core.measure.first_run import RunLimits, run_first
from core.measure.instrumented import Feed, Plan
from core.measure.profile import Given, measure
from core.measure.profiled import Memory, Profile, Wall
from core.measure.so_far import SoFar
from core.progress import Progress, Silent
from core.runtime.machine import read_conditions
from core.runtime.settings import SessionSettings

Shapes = Mapping[str, tuple[int, ...]]

FEWEST_POINTS, MOST_POINTS = 2, 12
_FEWEST_ROUNDS = 5
_WARM_UPS = 2
#: Of the plain and the instrumented session together, at each point.
_POINT_S = 1.5
_NOTHING_MEASURED = Memory(None, None, None)


@dataclass(frozen=True, slots=True)
class NamedShapes:
    """A name that people give to sizes of the inputs; inputs that are not named get proposed sizes."""

    name: str
    shapes: Shapes


@dataclass(frozen=True, slots=True)
class GrowthPoint:
    """What a run costs at one named shape; `elements` are those of all inputs together."""

    name: str
    shapes: Shapes
    elements: int
    wall: Wall
    kernel_ms: float

    def to_dict(self) -> dict[str, Any]:
        """As in the `growth` object."""
        shapes = {name: list(shape) for name, shape in self.shapes.items()}
        costs = {"wall_ms": self.wall.to_dict(), "kernel_ms": self.kernel_ms}
        return {"name": self.name, "shapes": shapes, "elements": self.elements, **costs}


@dataclass(frozen=True, slots=True)
class LayerGrowth:
    """Milliseconds of a layer at each point (None: not run there), and the exponent (None: not known)."""

    id: str
    ms: tuple[float | None, ...]
    exponent: float | None


@dataclass(frozen=True, slots=True)
class Growth:
    """All points, smallest first, and all layers."""

    points: tuple[GrowthPoint, ...]
    layers: tuple[LayerGrowth, ...]
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """The `growth` object of the `profile` document."""
        return {
            "points": [point.to_dict() for point in self.points],
            "layers": [asdict(layer) | {"ms": list(layer.ms)} for layer in self.layers],
            "data": f"Synthetic inputs of these shapes (seed {self.seed}).",
        }


@dataclass(frozen=True, slots=True)
class GrowthPlan:
    """`runs` at each point (None: as many as `budget_s` seconds allow in all), and the seed of inputs and order."""

    runs: int | None = None
    budget_s: float | None = None
    seed: int = 0


def check_points(model: Model, named: Sequence[NamedShapes]) -> tuple[NamedShapes, ...]:
    """The points with a shape for every input, smallest first.

    Raises:
        RequestError: too few or too many points, or two of one name.
        DataError: a shape does not fit; names the point and the input.
    """
    if not FEWEST_POINTS <= len(named) <= MOST_POINTS:
        message = f"Growth is measured at {FEWEST_POINTS} to {MOST_POINTS} named shapes, not at {len(named)}."
        raise RequestError(message, hint="Give --at NAME=INPUT:1x64 once for each.")
    names = [point.name for point in named]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise RequestError(f"Two named shapes are called '{twice}'.", hint="Give each a name of its own.")
    whole = []
    for point in named:
        try:
            whole.append(NamedShapes(point.name, resolve_shapes(model, point.shapes)))
        except DataError as error:
            raise DataError(f"At '{point.name}': {error.message}", hint=error.hint) from error
    return tuple(sorted(whole, key=lambda point: count_elements(point.shapes)))


def try_points(
    model: Model, points: Sequence[NamedShapes], settings: SessionSettings, limits: RunLimits, progress: Progress
) -> None:
    """Runs each shape once in a process of its own: a large one may fail, or take all memory.

    Raises:
        RunError, CrashedError: it does; names the point, and the layer where it is known.
    """
    for point in points:
        try:
            run_first(model, [_feed(model, point, 0)], settings, limits, progress)
        except MixdeskError as error:
            raise type(error)(f"At '{point.name}': {error.message}", hint=error.hint, layer=error.layer) from error


def measure_growth(
    model: Model,
    named: Sequence[NamedShapes],
    settings: SessionSettings,
    plan: GrowthPlan,
    progress: Progress | None = None,
) -> Growth:
    """Measures a model at several named shapes.

    Args:
        model: the model.
        named: the points, see `check_points`.
        settings: of both sessions.
        plan: how long.
        progress: is told how far it is.

    Raises:
        RequestError, DataError: as `check_points`.
        RunError: the runtime fails at a point.
    """
    told = progress or Silent()
    points = check_points(model, named)
    feeds = [_feed(model, point, plan.seed) for point in points]
    tables = [read_layers(model, shapes=point.shapes) for point in points]
    measured = _measure(Given(model, tables[-1], feeds, settings), plan, told)
    profiles = [_at_point(measured, number, tables, settings, plan.seed) for number in range(len(points))]
    return Growth(tuple(map(_point, points, profiles)), _layers(points, profiles), plan.seed)


def count_elements(shapes: Shapes) -> int:
    """Elements of all inputs together."""
    return sum(math.prod(shape) for shape in shapes.values())


def exponent(elements: Sequence[int], ms: Sequence[float | None]) -> float | None:
    """Least-squares slope of log(ms) over log(elements); None under two distinct sizes with a time."""
    known = [(math.log(count), math.log(time)) for count, time in zip(elements, ms, strict=True) if time and count]
    if len({size for size, _ in known}) < 2:
        return None
    sizes, times = np.array(known).T
    slope, _ = np.polyfit(sizes, times, 1)
    return float(slope)


def _feed(model: Model, point: NamedShapes, seed: int) -> Feed:
    return synthetic_dataset(model, shapes=point.shapes, samples=1, seed=seed).feed(0)


def _measure(given: Given, plan: GrowthPlan, progress: Progress) -> Measured:
    count = len(given.feeds)
    runs = Plan(
        runs=None if plan.runs is None else plan.runs * count,
        seed=plan.seed,
        clock=time.perf_counter,
        budget_s=_POINT_S * count if plan.budget_s is None else plan.budget_s,
        least=_FEWEST_ROUNDS * count,
        warm_up=_WARM_UPS * count,
        most_rounds=1,
        most_repeats=1,
    )
    quiet = SoFar(Silent(), read_conditions(given.settings, seed=plan.seed))
    return measure(given, runs, progress, quiet)


def _at_point(
    measured: Measured, number: int, tables: Sequence[LayerTable], settings: SessionSettings, seed: int
) -> Profile:
    """Turn t ran the feed t modulo the number of points; an unfinished last round is left out."""
    count = len(tables)
    end = (measured.timed[-1].turn + 1) // count * count
    here = [both.turn < end and both.turn % count == number for both in measured.timed]
    own = measured._replace(
        timed=tuple(compress(measured.timed, here)), every_run=tuple(compress(measured.every_run, here))
    )
    return assemble(own, _NOTHING_MEASURED, tables[number], read_conditions(settings, seed=seed), samples=1)


def _point(point: NamedShapes, profile: Profile) -> GrowthPoint:
    elements = count_elements(point.shapes)
    return GrowthPoint(point.name, point.shapes, elements, profile.wall, profile.kernel_ms)


def _layers(points: Sequence[NamedShapes], profiles: Sequence[Profile]) -> tuple[LayerGrowth, ...]:
    elements = [count_elements(point.shapes) for point in points]
    rows = zip(*(profile.layers for profile in profiles), strict=True)
    found = []
    for at_points in rows:
        ms = tuple(row.ms if row.runs else None for row in at_points)
        found.append(LayerGrowth(at_points[0].layer.id, ms, exponent(elements, ms)))
    return tuple(found)
