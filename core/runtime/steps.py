"""Steps: a graph run a few nodes at a time, each told before it begins, so that what ends the process has a name.

A step is a model of its own, cut from the source: its nodes, the weights they read, and as inputs whatever earlier
steps or the feed gave. What no later step reads is let go, as in a real run. Inside a container (`If`, `Loop`, `Scan`)
steps go on in its body: of the branch that is taken, or round by round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
from onnx import numpy_helper

from core.errors import RunError, UnavailableError
from core.intake.serialized import Serialized
from core.runtime.session import RUNTIME_FAILURES, Session, open_session, reason_of
from core.runtime.settings import SessionSettings

_NO_LIMIT = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Step:
    """What is about to run: nodes `first`..`last` of a graph (numbers in its order), by the names of these two.

    `inside` are the containers it lies in; `round` counts the rounds of the innermost loop from 0. `rounds` is how many
    rounds a step of one Loop or Scan was told to do: None where it is neither, -1 where nothing limits it.
    """

    first: int
    last: int
    names: tuple[str, str]
    inside: tuple[str, ...] = ()
    round: int | None = None
    rounds: int | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """How a graph is cut: `size` nodes per step, but one by one from node `single_from` to `single_to`.

    `enter` names the containers, outermost first, whose bodies are stepped through as well.
    """

    size: int = 1
    single_from: int = 0
    single_to: int = 0
    enter: tuple[str, ...] = ()


Tell = Callable[[Step], None]
Values = dict[str, Any]


def run_steps(model: onnx.ModelProto, feed: Mapping[str, Any], cut: Cut, tell: Tell, opened: Opened) -> None:
    """Runs a model step by step.

    Args:
        model: in execution order, node names unique over all its graphs.
        feed: input name -> array.
        cut: the size of steps.
        tell: is called before each step.
        opened: how the steps' sessions are opened.

    Raises:
        RunError: the runtime refuses or fails a step, the one told last.
        UnavailableError: a value has no form in which it can be handed on, or a Scan is of a rare form.
    """
    scope = _Scope({name: _as_value(name, array) for name, array in feed.items()}, {})
    _Stepper(model, tell, opened).run(model.graph, scope, cut, Step(0, 0, ("", "")))


@dataclass(frozen=True, slots=True)
class Opened:
    """Settings of the steps' sessions, and the folder of weights in other files."""

    settings: SessionSettings
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class _Scope:
    """What a node can read: `values` that were computed or fed, and `stored` ones (initializers, `Constant` nodes)."""

    values: Values
    stored: Mapping[str, Any]

    def value(self, name: str) -> Any:
        return self.values[name] if name in self.values else _stored_value(self.stored[name])

    def number(self, name: str) -> Any:
        return self.value(name).numpy().reshape(-1)[0]

    def with_values(self, more: Mapping[str, Any]) -> _Scope:
        return _Scope({**self.values, **more}, self.stored)


class _Stepper:
    """Runs graphs of one model; sessions of bodies are kept for the next round."""

    def __init__(self, model: onnx.ModelProto, tell: Tell, opened: Opened) -> None:
        self._model = model
        self._tell = tell
        self._opened = opened
        self._kept: dict[tuple[str, str], Session] = {}

    def run(self, graph: onnx.GraphProto, around: _Scope, cut: Cut, where: Step) -> Values:
        """Runs a graph on values of its own and of the graphs around it; returns its outputs."""
        constants = {node.output[0]: node for node in graph.node if _is_constant(node)}
        stored = {**around.stored, **{tensor.name: tensor for tensor in graph.initializer}, **constants}
        scope = _Scope(dict(around.values), stored)
        nodes = [node for node in graph.node if not _is_constant(node)]
        wanted = {value.name for value in graph.output}
        last_use = _last_uses(nodes)
        for first, last in _spans(len(nodes), cut):
            part = nodes[first : last + 1]
            step = replace(where, first=first, last=last, names=(part[0].name, part[-1].name))
            if len(part) == 1 and cut.enter and part[0].name == cut.enter[0]:
                self._enter(part[0], scope, replace(cut, enter=cut.enter[1:]), step)
            self._tell(_with_rounds(step, part, scope))
            given = [name for node in part for name in node.output if name]
            needed = [name for name in given if name in wanted or last_use.get(name, -1) > last]
            scope.values.update(self._run_part(part, needed, scope, step))
            for name in [name for name in scope.values if name not in around.values and name not in wanted]:
                if last_use.get(name, -1) <= last:
                    del scope.values[name]
        return {name: scope.value(name) for name in wanted}

    def _run_part(self, part: Sequence[onnx.NodeProto], needed: list[str], scope: _Scope, step: Step) -> Values:
        if not needed:
            return {}
        read = _reads(part)
        fed = {name: scope.values[name] for name in read if name in scope.values}
        if step.names not in self._kept:
            stored = [scope.stored[name] for name in read if name in scope.stored and name not in fed]
            self._kept[step.names] = self._open(part, fed, stored, needed)
        try:
            return dict(zip(needed, _run(self._kept[step.names], needed, fed), strict=True))
        except RUNTIME_FAILURES as error:
            raise RunError(f"onnxruntime failed to run the model: {reason_of(error)}") from error

    def _open(self, part: Sequence[onnx.NodeProto], fed: Values, stored: list[Any], needed: list[str]) -> Session:
        model = onnx.ModelProto(ir_version=self._model.ir_version, functions=self._model.functions)
        model.opset_import.extend(self._model.opset_import)
        model.graph.name = "step"
        model.graph.node.extend(entry for entry in stored if isinstance(entry, onnx.NodeProto))
        model.graph.initializer.extend(entry for entry in stored if isinstance(entry, onnx.TensorProto))
        model.graph.node.extend(part)
        model.graph.input.extend(onnx.ValueInfoProto(name=name, type=_type_of(value)) for name, value in fed.items())
        model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in needed)
        serialized = Serialized(model.SerializeToString(), self._opened.folder, edited=True)
        return open_session(serialized, self._opened.settings, timed=False)

    def _enter(self, node: onnx.NodeProto, scope: _Scope, cut: Cut, step: Step) -> None:
        """Steps through the body of a container, before it runs as a whole."""
        bodies = {attribute.name: attribute.g for attribute in node.attribute if attribute.HasField("g")}
        cut = Cut(enter=cut.enter)
        step = replace(step, inside=(*step.inside, node.name))
        if node.op_type == "If":
            taken = "then_branch" if bool(scope.number(node.input[0])) else "else_branch"
            self.run(bodies[taken], scope, cut, step)
        elif node.op_type == "Loop":
            self._loop(node, bodies["body"], scope, cut, step)
        elif node.op_type == "Scan":
            self._scan(node, bodies["body"], scope, cut, step)

    def _loop(self, node: onnx.NodeProto, body: onnx.GraphProto, scope: _Scope, cut: Cut, step: Step) -> None:
        most = _rounds(node, scope)
        goes_on = not node.input[1] or bool(scope.number(node.input[1]))
        carried = [scope.value(name) for name in node.input[2:]]
        names = [value.name for value in body.input]
        done = 0
        while goes_on and (most is None or most < 0 or done < most):
            own = [_as_value("round", np.array(done)), _as_value("condition", np.array(True)), *carried]
            inner = scope.with_values(dict(zip(names, own, strict=True)))
            told = self.run(body, inner, cut, replace(step, round=done))
            outputs = [told[value.name] for value in body.output]
            goes_on, carried = bool(outputs[0].numpy().reshape(-1)[0]), outputs[1 : 1 + len(carried)]
            done += 1

    def _scan(self, node: onnx.NodeProto, body: onnx.GraphProto, scope: _Scope, cut: Cut, step: Step) -> None:
        """Forward along the first axis, the form that exporters write."""
        scanned = next(attribute.i for attribute in node.attribute if attribute.name == "num_scan_inputs")
        if any(attribute.name.startswith("scan_input_") for attribute in node.attribute):
            raise UnavailableError("A Scan along other axes or backwards is not stepped through.")
        given = [scope.value(name) for name in node.input]
        carried, streams = given[:-scanned], [value.numpy() for value in given[-scanned:]]
        names = [value.name for value in body.input]
        for done in range(len(streams[0])):
            slices = [_as_value("slice", np.array(stream[done])) for stream in streams]
            inner = scope.with_values(dict(zip(names, [*carried, *slices], strict=True)))
            told = self.run(body, inner, cut, replace(step, round=done))
            carried = [told[value.name] for value in body.output][: len(carried)]


def _is_constant(node: onnx.NodeProto) -> bool:
    return node.op_type == "Constant" and node.domain in ("", "ai.onnx")


def _spans(count: int, cut: Cut) -> Iterator[tuple[int, int]]:
    """First and last node of each step."""
    first = 0
    while first < count:
        single = cut.single_from <= first < cut.single_to
        last = first if single else min(count, first + cut.size) - 1
        if first < cut.single_from <= last:
            last = cut.single_from - 1
        yield first, last
        first = last + 1


def _reads(nodes: Sequence[onnx.NodeProto]) -> list[str]:
    """Names that nodes and their bodies read from outside, in order, each once."""
    given, read = set[str](), dict[str, None]()
    for node in nodes:
        names = [name for name in node.input if name]
        for attribute in node.attribute:
            for graph in (*([attribute.g] if attribute.HasField("g") else ()), *attribute.graphs):
                own = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
                inner = {name for below in graph.node for name in below.output}
                outputs = [value.name for value in graph.output]
                names += [name for name in (*_reads(graph.node), *outputs) if name not in own | inner]
        read |= dict.fromkeys(name for name in names if name not in given)
        given |= set(node.output)
    return list(read)


def _last_uses(nodes: Sequence[onnx.NodeProto]) -> dict[str, int]:
    return {name: position for position, node in enumerate(nodes) for name in _reads([node])}


def _run(session: Session, needed: list[str], fed: Values) -> list[Any]:
    """Values of the runtime go from step to step uncopied; texts, which it takes from arrays only, as arrays."""
    if not any(isinstance(value, np.ndarray) for value in fed.values()):
        return list(session.run_with_ort_values(needed, fed))
    arrays = {name: value if isinstance(value, np.ndarray) else value.numpy() for name, value in fed.items()}
    return [_as_value(name, got) for name, got in zip(needed, session.run(needed, arrays), strict=True)]


def _as_value(name: str, array: Any) -> Any:
    if isinstance(array, np.ndarray) and array.dtype.kind in "OUS":
        return array.astype(object)
    try:
        return ort.OrtValue.ortvalue_from_numpy(np.require(array, requirements="C"))
    except RUNTIME_FAILURES as error:
        raise UnavailableError(f"The value '{name}' cannot be handed from step to step: {reason_of(error)}") from error


def _type_of(value: Any) -> onnx.TypeProto:
    """The declared type of a value, without its shape: a later round may bring another."""
    text = "tensor(string)" if isinstance(value, np.ndarray) else str(value.data_type())
    kind = onnx.TypeProto()
    inner = kind
    while not text.startswith("tensor("):
        outer, _, text = text.partition("(")
        text = text.removesuffix(")")
        if outer not in ("seq", "optional"):
            raise UnavailableError(f"A value of the type {value.data_type()} cannot be handed from step to step.")
        inner = inner.sequence_type.elem_type if outer == "seq" else inner.optional_type.elem_type
    inner.tensor_type.elem_type = _ELEMENT_TYPES[text.removeprefix("tensor(").removesuffix(")")]
    return kind


_ELEMENT_TYPES = {
    **{name.lower(): number for name, number in onnx.TensorProto.DataType.items()},
    "float": onnx.TensorProto.FLOAT,
    "double": onnx.TensorProto.DOUBLE,
}


def _with_rounds(step: Step, part: Sequence[onnx.NodeProto], scope: _Scope) -> Step:
    if len(part) != 1 or part[0].op_type not in ("Loop", "Scan"):
        return step
    return replace(step, rounds=_rounds(part[0], scope))


def _rounds(node: onnx.NodeProto, scope: _Scope) -> int | None:
    """How many rounds a Loop or Scan is told to do; -1 where nothing limits them."""
    if node.op_type == "Scan":
        shape = scope.value(node.input[-1]).shape()
        return int(shape[0]) if shape else None
    if not node.input[0]:
        return -1
    most = int(scope.number(node.input[0]))
    return -1 if most == _NO_LIMIT else most


def _stored_value(entry: onnx.TensorProto | onnx.NodeProto) -> Any:
    if isinstance(entry, onnx.TensorProto):
        return _as_value(entry.name, numpy_helper.to_array(entry))
    held = entry.attribute[0]
    array = numpy_helper.to_array(held.t) if held.HasField("t") else np.array(onnx.helper.get_attribute_value(held))
    return _as_value(entry.output[0], array)
