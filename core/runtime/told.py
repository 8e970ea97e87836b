"""Told: what the runtime says of a tagged model, with the user's own layer names in it, and the layer that it is about.

The runtime names nodes in its failures ("while running Div node. Name:'mxL12x' Status Message: ..."), containers first.
In a tagged model these names lead to layers; no tag ever reaches the user.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from core.errors import RunError
from core.runtime.tags import SourceNode, TaggedModel

_NAMED = re.compile(r"(?:Name:|node with name |Node \()'?([^\s')]*)")
_FAILING = re.compile(r"Non-zero status code returned while running \w+ node\. Name:'[^']*' Status Message: ")
_TAGGED_NAME = re.compile(r"\w*?mxL(\d+)x(?:o\d+)?\w*")
_BODY_INPUT = re.compile(r"mxF\d+x\w+")


@dataclass(frozen=True, slots=True)
class Place:
    """A layer, and its operator."""

    layer: str
    op_type: str

    def __str__(self) -> str:
        return f"'{self.layer}' ({self.op_type})"


def retell(error: RunError, tagged: TaggedModel) -> RunError:
    """The same failure in the user's names; `layer` is the innermost layer that the runtime named.

    Args:
        error: of a session of the tagged model, or of the model that it was made of.
        tagged: tells the layers.
    """
    places: list[Place] = []
    for name in _NAMED.findall(error.message):
        place = place_of(name, tagged) or _by_own_name(name, places, tagged)
        places += [] if place is None else [place]
    message = error.message
    if _FAILING.search(message) and places:
        head, reason = message.split(": ", 1)[0], _FAILING.split(message)[-1]
        message = f"{head}: layer {places[-1]} failed: {reason}"
    message = _BODY_INPUT.sub("an input of the body", _TAGGED_NAME.sub(lambda found: _name(found, tagged), message))
    return RunError(message, hint=error.hint, layer=places[-1].layer if places else error.layer)


def place_of(name: str, tagged: TaggedModel) -> Place | None:
    """The layer that a tagged node name leads to; None for names without a tag and for inserted nodes."""
    layers = (tagged.nodes[tag] for tag in tagged.tags_in(name))
    return next((_place(node) for node in layers if node.layer is not None), None)


def _by_own_name(name: str, around: list[Place], tagged: TaggedModel) -> Place | None:
    """The layer whose node has that name, in the bodies of the container that was named before it."""
    inside = f"{around[-1].layer}/" if around else ""
    for node in tagged.nodes:
        layer = node.layer or ""
        if name and (layer == name if not inside else layer.startswith(inside) and layer.endswith(f"/{name}")):
            return _place(node)
    return None


def _place(node: SourceNode) -> Place:
    return Place(node.layer or "", node.op_type)


def _name(found: re.Match[str], tagged: TaggedModel) -> str:
    number = int(found[1])
    known = tagged.nodes[number] if number < len(tagged.nodes) else None
    if known is None:
        return found[0]
    return known.layer or f"an inserted {known.op_type}"
