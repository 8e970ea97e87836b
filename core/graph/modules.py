"""Modules: the path of modules that an exporter wrote into a layer's name.

"/stage1/stage1.0/conv1/Conv" was written for the module stage1 -> 0 -> conv1: the exporter repeats the parents' names
and adds the operator. Names without such a path give an empty one.
"""

from __future__ import annotations

import re
from ast import literal_eval

import onnx_ir as ir

#: Where PyTorch's newer exporter keeps the path: "['', 'layer1', 'layer1.0', 'layer1.0.conv1', 'conv2d']".
_TORCH_SCOPES = "pkg.torch.onnx.name_scopes"
_OUTPUT_SUFFIX = re.compile(r"_output_\d+$|:\d+$")
#: Names that exporters make up and that say nothing of a module.
_NOISE = frozenset(("p2o", "StatefulPartitionedCall", "PartitionedCall", "node", "op", "graph", ""))


def read_module(node: ir.Node) -> tuple[str, ...]:
    """The module path of a node, outermost first; () where its name has none."""
    scopes = node.metadata_props.get(_TORCH_SCOPES)
    if scopes:
        return _from_scopes(scopes)
    return module_path(node.name or "", node.op_type)


def module_path(name: str, op_type: str) -> tuple[str, ...]:
    """The module path in a name such as "/encoder/encoder.0/linear/MatMul" or "encoder.0.linear"."""
    name = _OUTPUT_SUFFIX.sub("", name)
    if "/" in name:
        parts = [part for part in name.split("/") if part]
        if parts and _is_operator(parts[-1], op_type):
            parts.pop()
        return tuple(part for part in _without_repetition(parts) if part not in _NOISE)
    if "." in name:
        parts = _until_operator(name.split("."), op_type)
        return tuple(part for part in parts if part not in _NOISE)
    return ()


def _from_scopes(text: str) -> tuple[str, ...]:
    try:
        scopes = literal_eval(text)
    except (ValueError, SyntaxError):
        return ()
    if not isinstance(scopes, list):
        return ()
    return tuple(part for part in _without_repetition([str(scope) for scope in scopes[:-1]]) if part)


def _without_repetition(parts: list[str]) -> list[str]:
    """Removes from each part the parents' path that the exporter repeats in it: stage1, stage1.0 -> stage1, 0."""
    path: list[str] = []
    for part in parts:
        rest = part
        for start in range(len(path)):
            prefix = ".".join(path[start:]) + "."
            if part.startswith(prefix):
                rest = part.removeprefix(prefix)
                break
        path.append(rest)
    return path


def _until_operator(parts: list[str], op_type: str) -> list[str]:
    """A dotted name up to the operator in it: p2o.Conv.0 -> p2o."""
    for position, part in enumerate(parts):
        if _is_operator(part, op_type):
            return parts[:position]
    return parts


def _is_operator(part: str, op_type: str) -> bool:
    """Whether a part names the operator ("Conv", "Conv_12", "Conv2D__7") rather than a module."""
    return re.match(rf"{re.escape(op_type)}(_|\d|$)", part) is not None or part[:1].isupper()
