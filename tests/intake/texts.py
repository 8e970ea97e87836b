"""Models as text: what the tests of intake and graph load."""

from __future__ import annotations

import onnx.parser

from core.intake.load import load_model
from core.intake.model import Model

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'


def to_bytes(text: str, *, head: str = HEAD) -> bytes:
    """The bytes of a model written as text, without its first `<...>` part."""
    return bytes(onnx.parser.parse_model(head + text).SerializeToString())


def load(text: str, *, head: str = HEAD, strict: bool = True) -> Model:
    """A loaded model written as text."""
    return load_model(to_bytes(text, head=head), name="m", strict=strict)


TINY = "g (float[n,4] x) => (float[n,4] y) { y = Relu (x) }"
