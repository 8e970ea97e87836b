"""Mixes under search: a set of groups in int8, built and scored once each, remembered by the set."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.errors import RunError
from core.graph.layer import LayerTable
from core.intake.dataset import Dataset
from core.intake.model import Model, Serialized, serialize
from core.intake.pack import size_of
from core.measure.noise import noise_of
from core.measure.outputs import Outputs, run_outputs
from core.recipe.plan import Plan
from core.recipe.precision import Precision, Support
from core.recipe.recipe import Recipe, Rule
from core.recipe.resolve import resolve
from core.runtime.settings import SessionSettings
from core.store.units import Codec, Units
from core.transform.body import find_body
from core.transform.build import place_plan
from core.transform.calibrate import Ranges
from core.transform.values import nodes_by_layer

Mix = frozenset[str]
Accepts = Callable[[Sequence[Outputs], Sequence[Outputs], float], bool]


@dataclass(frozen=True, slots=True)
class Ingredients:
    """All that building a mix needs: the model, its layers, ranges, what this machine offers, and pinned rules."""

    model: Model
    table: LayerTable
    ranges: Ranges
    offered: Mapping[str, Support]
    saturates: bool
    settings: SessionSettings
    pins: tuple[Rule, ...] = ()

    def recipe(self, mix: Mix) -> Recipe:
        """The rules that give this mix; pins come last, so they win."""
        chosen = [group.id for group in self.table.groups if group.id in mix]
        why = "chosen by the search: fastest mix that kept the target"
        return Recipe(rules=(*(Rule(f"group:{group}", Precision.INT8, why=why) for group in chosen), *self.pins))

    def plan(self, mix: Mix) -> Plan:
        """One decision per layer."""
        return resolve(self.recipe(mix), self.table, offered=self.offered)

    def key(self, mix: Mix) -> dict[str, Any]:
        """What the file of a mix depends on, besides the model, the calibration samples, versions and machine."""
        rules = [rule.to_dict() for rule in self.pins]
        offered = {op: str(state) for op, state in self.offered.items()}
        return {"groups": sorted(mix), "pins": rules, "offered": offered, "saturates": self.saturates}

    def build(self, mix: Mix) -> Serialized:
        """The model file of a mix, not yet opened."""
        built, *_ = place_plan(self.model, self.table, self.plan(mix), self.ranges, saturates=self.saturates)
        return serialize(built)


def lowerable_groups(ingredients: Ingredients) -> tuple[list[str], dict[str, str]]:
    """Groups with weights that can be int8 here, in graph order, and group id -> reason for the others with weights."""
    nodes = nodes_by_layer(ingredients.model.copy_ir())
    table = ingredients.table
    everything = ingredients.plan(frozenset(group.id for group in table.groups))
    decided = everything.groups(Precision.INT8)
    found: list[str] = []
    refused: dict[str, str] = {}
    for group in table.groups:
        if group.kind in ("follower", "other"):
            continue
        body = find_body(group, table, nodes)
        if isinstance(body, str):
            refused[group.id] = body
        elif group.id not in decided:
            refused[group.id] = everything.of_layer(group.anchor).why
        elif body.weighted:
            found.append(group.id)
    return found, refused


@dataclass(frozen=True, slots=True)
class Scored:
    """A mix that was built and run on the evaluation samples; `size_bytes` is 0 where the runtime refuses it."""

    mix: Mix
    noise: float
    accepted: bool
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Goal:
    """What a mix must keep on the judge samples, and the noise power that this allows (infinite: no such limit).

    `weights` are the outputs that count. `key` holds all that `accepts` depends on besides the samples.
    """

    accepts: Accepts
    noise_limit: float
    judge: tuple[int, ...]
    weights: Mapping[str, float] | None = None
    key: Mapping[str, Any] = field(default_factory=dict)


class MixBench:
    """Builds mixes and scores them on fixed samples against the original's outputs; each mix once.

    Where earlier work ran the original and scored mixes, the original runs again only when the first mix needs it that
    is not scored.
    """

    def __init__(
        self, ingredients: Ingredients, dataset: Dataset, goal: Goal, *, probe: Sequence[int], units: Units
    ) -> None:
        """Nothing runs yet.

        Args:
            ingredients: what mixes are built from.
            dataset: where samples come from.
            goal: says which samples judge a mix, and whether it is accepted.
            probe: few samples for sensitivities (indices).
            units: what is finished already.
        """
        self._ingredients, self._dataset, self._goal, self._units = ingredients, dataset, goal, units
        self._probe = tuple(probe)
        self._reference: dict[int, Outputs] = {}
        self._scored: dict[Mix, Scored] = {}
        self.evaluations = 0

    def start(self) -> None:
        """Runs the original on all samples, or counts the time where that was done before."""
        samples = tuple(sorted({*self._probe, *self._goal.judge}))
        self._units.get_or("original outputs", {"samples": samples}, lambda: self._refer(samples), codec=_NOTHING)

    def probe_noise(self, mix: Mix) -> float:
        """Noise on the probe samples; infinite where the runtime refuses the mix."""
        return self._measure("solo", mix, self._probe, {"outputs": self._goal.weights}, lambda *_: False).noise

    def score(self, mix: Mix) -> Scored:
        """Whether the target holds on the judge samples; a mix that the runtime refuses is not accepted."""
        if mix not in self._scored:
            key = {"outputs": self._goal.weights, "goal": self._goal.key}
            self._scored[mix] = self._measure("mix", mix, self._goal.judge, key, self._goal.accepts)
        return self._scored[mix]

    def scored(self) -> tuple[Scored, ...]:
        """All that was scored so far."""
        return tuple(self._scored.values())

    def _measure(
        self, kind: str, mix: Mix, indices: tuple[int, ...], key: Mapping[str, Any], accepts: Accepts
    ) -> Scored:
        self.evaluations += 1
        return self._units.get_or(
            kind,
            {**key, "mix": self._ingredients.key(mix), "samples": indices},
            lambda: self._run(mix, indices, accepts),
            codec=Codec(_written, lambda stored: _read(mix, stored)),
            before=lambda: self._refer(indices),
        )

    def _refer(self, indices: tuple[int, ...]) -> None:
        """Runs the original on those samples that it was not run on yet in this process."""
        missing = [index for index in indices if index not in self._reference]
        if missing:
            original = self._ingredients.model.serialize()
            outputs = run_outputs(original, self._dataset, missing, self._ingredients.settings)
            self._reference.update(zip(missing, outputs, strict=True))

    def _run(self, mix: Mix, indices: tuple[int, ...], accepts: Accepts) -> Scored:
        try:
            data = self._ingredients.build(mix)
            outputs = run_outputs(data, self._dataset, indices, self._ingredients.settings)
            reference = [self._reference[index] for index in indices]
            noise = noise_of(reference, outputs, weights=self._goal.weights)
        except RunError:
            return Scored(mix, math.inf, accepted=False, size_bytes=0)
        return Scored(mix, noise, accepts(reference, outputs, noise), size_of(data))


#: The outputs themselves are not kept: they may be large, and are needed only where a mix is not scored yet.
_NOTHING: Codec[None] = Codec(lambda nothing: {}, lambda stored: None)


def _written(scored: Scored) -> dict[str, Any]:
    noise = scored.noise if math.isfinite(scored.noise) else "inf"
    return {"noise": noise, "accepted": scored.accepted, "size_bytes": scored.size_bytes}


def _read(mix: Mix, stored: Mapping[str, Any]) -> Scored:
    return Scored(mix, float(stored["noise"]), bool(stored["accepted"]), int(stored["size_bytes"]))
