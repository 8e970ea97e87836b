"""Names: every node gets one that is not empty and unlike all others of its graph, so that layers have stable ids.

The rule: a name that is unique in its graph stays; a repeated or empty one becomes the first output's name, and where
that is taken too, the same with "_2", "_3" ... behind it.
"""

from __future__ import annotations

from collections import Counter

import onnx_ir as ir

from core.intake.model import Repair
from core.intake.scopes import bodies, is_constant, walk_graphs, walk_scopes

#: Where a renamed node keeps the name that the file gives it; not written to files.
_GIVEN = "mixdesk.given_name"


def given_name(node: ir.Node) -> str:
    """The name of a node in the file, which may be empty or borne by others as well."""
    return str(node.meta.get(_GIVEN, node.name or ""))


def unique_names(graph: ir.Graph) -> dict[ir.Node, str]:
    """The names that `onnx_ir`'s `NameFixPass` gives to the nodes of the file, with which other programs show it.

    In each graph the first bearer of a name keeps it, the others are numbered; a node without one is called "node".
    """
    found: dict[ir.Node, str] = {}
    numbers: Counter[str] = Counter()

    def visit(inner: ir.Graph) -> None:
        taken: set[str] = set()
        for node in inner:
            wish = unused = given_name(node) or "node"
            while unused in taken:
                numbers[wish] += 1
                unused = f"{wish}_{numbers[wish]}"
            taken.add(unused)
            found[node] = unused
            for _, body in bodies(node):
                visit(body)

    visit(graph)
    return found


def name_nodes(model: ir.Model) -> tuple[Repair, ...]:
    """Renames nodes in place until every layer id is unique; the same file always gets the same names.

    Returns:
        One repair per cause, with how many layers it concerned.
    """
    empty, repeated = 0, 0
    for graph in walk_graphs(model.graph):
        given = Counter(node.name for node in graph if node.name)
        kept = {name for name, count in given.items() if count == 1}
        for node in graph:
            if node.name in kept:
                continue
            empty += not node.name and not is_constant(node)
            repeated += bool(node.name) and not is_constant(node)
            unused = _unused(_first_output(node), kept)
            _rename(node, unused)
            kept.add(unused)
    clashing = _separate_ids(model)
    return tuple(_repairs(empty, repeated + clashing))


def _rename(node: ir.Node, name: str) -> None:
    node.meta[_GIVEN] = given_name(node)
    node.name = name


def _first_output(node: ir.Node) -> str:
    """The first named output, or the operator's name where a node writes nothing."""
    return next((output.name for output in node.outputs if output.name), node.op_type)


def _unused(wish: str, taken: set[str]) -> str:
    candidate, position = wish, 2
    while candidate in taken:
        candidate, position = f"{wish}_{position}", position + 1
    return candidate


def _separate_ids(model: ir.Model) -> int:
    """Renames nodes whose id equals another's across scopes: top-level "a/then/b" beside "b" in the branch of "a"."""
    taken: set[str] = set()
    changed = 0
    for scope, node in walk_scopes(model.graph):
        prefix = "".join(f"{part}/" for part in scope)
        wish = f"{prefix}{node.name}"
        unused = _unused(wish, taken)
        if unused != wish:
            _rename(node, unused.removeprefix(prefix))
            changed += not is_constant(node)
        taken.add(unused)
    return changed


def _repairs(empty: int, repeated: int) -> list[Repair]:
    found = []
    if empty:
        why = "A layer needs a name to be selected by; each took the name of its first output."
        found.append(Repair("named nodes that had no name", why, empty))
    if repeated:
        why = "The runtime refuses repeated names, and a rule could not tell the layers apart."
        found.append(Repair("renamed nodes whose name was taken", why, repeated))
    return found
