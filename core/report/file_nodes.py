"""File nodes: how other programs that open the model's file can tell the node of a layer from all others.

A node's name in the file may be empty or repeated, also across sub-graphs, where a layer's id is always one layer's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FileNode:
    """A layer's row of the `profile` document with its node in the file.

    `name` is that in the file, `own_name` whether no other node bears it, whichever graph it is in. `output` is the
    first value that it writes, "" where another layer writes one of that name. `scope` are its containers and branches.
    """

    row: Document
    name: str
    own_name: bool
    output: str
    scope: tuple[str, ...]


def file_nodes(document: Document, inspection: Document) -> Iterator[FileNode]:
    """The layers of a profile that the model's file holds, in order.

    Args:
        document: a `profile` document.
        inspection: the `inspect` document of the same model. An old one, without names, is read by its ids.
    """
    layers = {layer["id"]: layer for layer in inspection.get("layers") or ()}
    names = {layer_id: str(layer.get("name", _id_in_scope(layer))) for layer_id, layer in layers.items()}
    bearers = Counter(names.values())
    writers = Counter(output for layer in layers.values() for output in layer["outputs"])
    for row in document.get("layers") or ():
        layer = layers.get(row["id"])
        if layer is None:
            continue
        name = names[row["id"]]
        output = next((output for output in layer["outputs"] if output), "")
        own_name = bool(name) and bearers[name] == 1
        yield FileNode(row, name, own_name, output if writers[output] == 1 else "", tuple(layer["scope"]))


def unique_names(inspection: Document) -> dict[str, str]:
    """Layer id -> its name as onnx-ir makes it unique in its graph; of an old document the end of the id."""
    layers = inspection.get("layers") or ()
    return {layer["id"]: str(layer.get("unique_name") or _id_in_scope(layer)) for layer in layers}


def _id_in_scope(layer: Document) -> str:
    prefix = "".join(f"{part}/" for part in layer["scope"])
    return str(layer["id"]).removeprefix(prefix)
