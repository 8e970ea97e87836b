"""Places: which executed node a recorded kernel is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from core.measure.events import KernelEvent
from core.runtime.attribute import TaggedSession
from core.runtime.executed import ExecutedNode

Key = tuple[str | None, str]
Scope = tuple[str, ...]


class Places:
    """Finds the executed node of an event: by container and name, by name alone, nameless ones by operator in order.

    `ran` are all kernels of the runs: of an `If`, they tell which branches ran.
    """

    def __init__(self, tagged: TaggedSession, ran: Iterable[KernelEvent] = ()) -> None:
        self._by_name = tagged.by_name
        self._unique = _unique(tagged)
        self._nameless = {key: self._of_run(nodes, ran_in) for key, nodes, ran_in in _with_siblings(tagged, ran)}
        self._seen: dict[Key, dict[str, int]] = defaultdict(dict)

    def find(self, kernel: KernelEvent) -> ExecutedNode | None:
        """The node of an event; None where the optimized graph has none of its name."""
        found = self._by_name.get((kernel.container, kernel.name)) or self._find_nameless(kernel)
        return found if found is not None else self._unique.get(kernel.name)

    def _find_nameless(self, kernel: KernelEvent) -> ExecutedNode | None:
        """The runtime calls a nameless node `Operator_index`; both sides list them in order of execution."""
        key = (kernel.container, kernel.op_type)
        nodes: Sequence[ExecutedNode] = self._nameless.get(key, ())
        position = self._seen[key].setdefault(kernel.name, len(self._seen[key]))
        return nodes[position] if position < len(nodes) else None

    @staticmethod
    def _of_run(nodes: Sequence[ExecutedNode], ran_in: frozenset[Scope]) -> Sequence[ExecutedNode]:
        return [node for node in nodes if node.scope in ran_in] or nodes


def _with_siblings(
    tagged: TaggedSession, ran: Iterable[KernelEvent]
) -> Iterator[tuple[Key, Sequence[ExecutedNode], frozenset[Scope]]]:
    """The nameless nodes of each container and operator, with the bodies of it in which kernels with a name ran."""
    ran_in: dict[str | None, set[Scope]] = defaultdict(set)
    for kernel in ran:
        node = tagged.by_name.get((kernel.container, kernel.name))
        if node is not None:
            ran_in[kernel.container].add(node.scope)
    for key, nodes in tagged.nameless.items():
        yield key, nodes, frozenset(ran_in[key[0]])


def _unique(tagged: TaggedSession) -> dict[str, ExecutedNode]:
    """Names that only one node has, in whatever container: clocks of whole microseconds may hide where it ran."""
    found: dict[str, list[ExecutedNode]] = defaultdict(list)
    for (_, name), node in tagged.by_name.items():
        found[name].append(node)
    return {name: nodes[0] for name, nodes in found.items() if len(nodes) == 1}
