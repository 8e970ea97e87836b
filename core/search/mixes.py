"""Mixes under search: a set of groups in int8, built and scored once each, remembered by the set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from core.errors import RunError
from core.graph.layer import LayerTable
from core.intake.dataset import Dataset
from core.intake.model import Model
from core.measure.outputs import Outputs, run_outputs
from core.recipe.plan import Plan
from core.recipe.precision import Precision, Support
from core.recipe.recipe import Recipe, Rule
from core.recipe.resolve import resolve
from core.runtime.settings import SessionSettings
from core.measure.noise import noise_of
from core.transform.body import find_body
from core.transform.build import place_plan
from core.transform.calibrate import Ranges
from core.transform.values import nodes_by_layer

Mix = frozenset[str]


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

    def build(self, mix: Mix) -> bytes:
        """The model file of a mix, not yet opened."""
        built, *_ = place_plan(self.model, self.table, self.plan(mix), self.ranges, saturates=self.saturates)
        return bytes(ir.to_proto(built).SerializeToString())


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
    """A mix that was built and run on the evaluation samples."""

    mix: Mix
    noise: float
    accepted: bool
    size_bytes: int


class MixBench:
    """Builds mixes and scores them on fixed samples against the original's outputs; each mix once."""

    def __init__(
        self,
        ingredients: Ingredients,
        dataset: Dataset,
        *,
        probe: Sequence[int],
        judge: Sequence[int],
        accepts: Callable[[Sequence[Outputs], Sequence[Outputs], float], bool],
    ) -> None:
        """Runs the original once on both sample lists.

        Args:
            ingredients: what mixes are built from.
            dataset: where samples come from.
            probe: few samples for sensitivities (indices).
            judge: samples on which a mix is accepted (indices); a superset of `probe` or not.
            accepts: (reference outputs, got outputs, noise) -> whether the target holds on the judge samples.
        """
        self._ingredients = ingredients
        self._dataset = dataset
        self._probe, self._judge = tuple(probe), tuple(judge)
        self._accepts = accepts
        original = ingredients.model.to_bytes()
        everything = sorted({*self._probe, *self._judge})
        outputs = run_outputs(original, dataset, everything, ingredients.settings)
        self._reference = dict(zip(everything, outputs, strict=True))
        self._scored: dict[Mix, Scored] = {}
        self.evaluations = 0

    def probe_noise(self, mix: Mix) -> float:
        """Noise on the probe samples."""
        return self._run(mix, self._probe)[1]

    def score(self, mix: Mix) -> Scored:
        """Whether the target holds on the judge samples; a mix that the runtime refuses is not accepted."""
        if mix not in self._scored:
            self._scored[mix] = self._score(mix)
        return self._scored[mix]

    def scored(self) -> tuple[Scored, ...]:
        """All that was scored so far."""
        return tuple(self._scored.values())

    def _score(self, mix: Mix) -> Scored:
        try:
            outputs, noise, size = self._run(mix, self._judge)
        except RunError:
            return Scored(mix, float("inf"), accepted=False, size_bytes=0)
        reference = [self._reference[index] for index in self._judge]
        return Scored(mix, noise, self._accepts(reference, outputs, noise), size)

    def _run(self, mix: Mix, indices: tuple[int, ...]) -> tuple[list[Outputs], float, int]:
        self.evaluations += 1
        data = self._ingredients.build(mix)
        outputs = run_outputs(data, self._dataset, indices, self._ingredients.settings)
        return outputs, noise_of([self._reference[index] for index in indices], outputs), len(data)
