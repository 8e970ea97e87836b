"""Layers and groups: the structure that every table of numbers is keyed by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from core.errors import RecipeError, did_you_mean

Shape = tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Layer:
    """One node of the loaded graph (sub-graph bodies included, `Constant` excluded) with a stable id.

    `scope` is the path of containers ("if_1", "then"); empty at the top. `module` is the path read from the name
    ("stage1", "block0", "conv1"). `macs` are multiply-accumulates of one run; None where shapes are unknown.
    `weight_bytes` counts constants read by this layer as stored; `activation_bytes` what it writes. `dtype` is the
    element type of its first output (numpy name), "" where unknown. `name` is the node's name in the file, which may be
    empty or borne by others as well; `unique_name` what onnx_ir makes of it where names have to differ in their graph.
    """

    id: str
    index: int
    op_type: str
    domain: str
    group: str
    scope: tuple[str, ...]
    module: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    input_shapes: tuple[Shape | None, ...]
    output_shapes: tuple[Shape | None, ...]
    dtype: str
    parameters: int
    weight_bytes: int
    activation_bytes: int | None
    macs: int | None
    name: str = ""
    unique_name: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Layers that the runtime fuses into one kernel and that therefore share one precision.

    `anchor` is the layer that does the arithmetic (the Conv of Conv + BatchNormalization + Relu). `kind` is "conv",
    "gemm", "matmul", "recurrent", "follower" (no weights, keeps the precision of what feeds it: Add, pooling, reshape,
    a free-standing activation) or "other". The id is the anchor's layer id.
    """

    id: str
    anchor: str
    kind: str
    layers: tuple[str, ...]


@dataclass(frozen=True)
class LayerTable:
    """All layers in graph order, their groups, and who feeds whom (layer ids)."""

    layers: tuple[Layer, ...]
    groups: tuple[Group, ...]
    edges: tuple[tuple[str, str], ...]
    _by_id: dict[str, Layer] = field(init=False, repr=False, compare=False)
    _group_by_id: dict[str, Group] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_id", {layer.id: layer for layer in self.layers})
        object.__setattr__(self, "_group_by_id", {group.id: group for group in self.groups})

    def __iter__(self) -> Iterator[Layer]:
        return iter(self.layers)

    def __len__(self) -> int:
        return len(self.layers)

    def __contains__(self, layer_id: object) -> bool:
        return layer_id in self._by_id

    def layer(self, layer_id: str) -> Layer:
        """The layer of that id.

        Raises:
            RecipeError: no such layer; the nearest name is suggested.
        """
        if layer_id not in self._by_id:
            message = f"The model has no layer '{layer_id}'.{did_you_mean(layer_id, self._by_id)}"
            raise RecipeError(message, layer=layer_id)
        return self._by_id[layer_id]

    def group(self, group_id: str) -> Group:
        """The group of that id.

        Raises:
            RecipeError: no such group; the nearest name is suggested.
        """
        if group_id not in self._group_by_id:
            message = f"The model has no group '{group_id}'.{did_you_mean(group_id, self._group_by_id)}"
            raise RecipeError(message, layer=group_id)
        return self._group_by_id[group_id]

    @cached_property
    def predecessors(self) -> dict[str, tuple[str, ...]]:
        """Layer id -> ids of the layers that feed it."""
        found: dict[str, list[str]] = {layer.id: [] for layer in self.layers}
        for source, target in self.edges:
            found[target].append(source)
        return {layer_id: tuple(sources) for layer_id, sources in found.items()}

    @cached_property
    def successors(self) -> dict[str, tuple[str, ...]]:
        """Layer id -> ids of the layers it feeds."""
        found: dict[str, list[str]] = {layer.id: [] for layer in self.layers}
        for source, target in self.edges:
            found[source].append(target)
        return {layer_id: tuple(targets) for layer_id, targets in found.items()}
