from __future__ import annotations

import pytest

from core.graph.layer import Layer, LayerTable
from core.measure.events import KernelEvent, RunEvents
from core.measure.profiler_cost import ProfilerCost
from core.measure.spent import book, executed_forms, split
from core.runtime.attribute import TaggedSession
from core.runtime.executed import ExecutedGraph, ExecutedNode


def _layer(name: str, op_type: str, macs: int | None, written: int | None) -> Layer:
    return Layer(name, 0, op_type, "", name, (), (), (), (), (), (), "float32", 0, 0, written, macs)


TABLE = LayerTable(
    (
        _layer("conv", "Conv", 1000, 10),
        _layer("relu", "Relu", 0, 10),
        _layer("pool", "MaxPool", 0, 30),
        _layer("cast", "Cast", 0, 10),
        _layer("odd", "Odd", None, None),
        _layer("odder", "Odd", None, None),
    ),
    (),
    (),
)


def _node(name: str, *layers: str, op_type: str = "Conv", domain: str = "", bucket: str | None = None) -> ExecutedNode:
    return ExecutedNode(name, op_type, domain, (), layers, bucket)  # type: ignore[arg-type]


def _kernel(name: str, us: float, *, op_type: str = "Conv", container: str | None = None) -> KernelEvent:
    return KernelEvent(name, op_type, container, us, 100, (), (), span_us=us)


def _session(
    named: dict[tuple[str | None, str], ExecutedNode],
    nameless: dict[tuple[str | None, str], tuple[ExecutedNode, ...]] | None = None,
) -> TaggedSession:
    return TaggedSession(None, ExecutedGraph(tuple(named.values())), named, nameless or {})


def test_a_fused_kernel_is_split_by_arithmetic_then_by_bytes_then_evenly() -> None:
    assert split(_node("k", "conv", "relu"), TABLE) == {"conv": 1.0, "relu": 0.0}
    assert split(_node("k", "relu", "pool"), TABLE) == {"relu": 0.25, "pool": 0.75}
    assert split(_node("k", "odd", "odder"), TABLE) == {"odd": 0.5, "odder": 0.5}
    assert split(_node("k", bucket="reorder"), TABLE) == {}
    assert split(_node("k", "a layer of another model"), TABLE) == {}


def test_all_time_is_booked_on_layers_and_buckets() -> None:
    session = _session(
        {
            (None, "fused"): _node("fused", "conv", "relu"),
            (None, "reorder"): _node("reorder", op_type="ReorderInput", bucket="reorder"),
        }
    )
    kernels = (_kernel("fused", 800), _kernel("reorder", 100), _kernel("stranger", 50))
    ledger = book([RunEvents(1000.0, kernels)] * 3, session, TABLE)
    assert ledger.layers["conv"].ms == pytest.approx(0.8)
    assert ledger.layers["relu"].ms == 0
    assert ledger.buckets["reorder"].ms == pytest.approx(0.1)
    assert ledger.buckets["unattributed"].ms == pytest.approx(0.05)
    assert ledger.gap_ms == pytest.approx(0.05)
    assert ledger.kernel_ms + ledger.gap_ms == pytest.approx(ledger.run_ms)


def test_a_layer_that_runs_in_some_runs_only_counts_by_its_share() -> None:
    session = _session({(None, "k"): _node("k", "conv")})
    runs = [RunEvents(5000.0, (_kernel("k", 4000),)), *[RunEvents(1000.0, ())] * 3]
    ledger = book(runs, session, TABLE)
    assert ledger.layers["conv"].ms == pytest.approx(1.0)
    assert ledger.layers["conv"].executions == pytest.approx(0.25)
    assert ledger.layers["conv"].moved_bytes == 25
    assert ledger.run_ms == pytest.approx(2.0)


def test_an_operator_written_out_as_several_kernels_ran_once() -> None:
    session = _session({(None, "a"): _node("a", "conv"), (None, "b"): _node("b", "conv")})
    ledger = book([RunEvents(10.0, (_kernel("a", 3), _kernel("b", 4)))], session, TABLE)
    assert ledger.layers["conv"].ms == pytest.approx(0.007)
    assert ledger.layers["conv"].executions == 1


def test_what_the_profiler_cost_in_a_kernel_is_in_the_gap_and_the_raw_time_stays() -> None:
    session = _session({(None, "k"): _node("k", "conv", "relu"), (None, "r"): _node("r", bucket="reorder")})
    runs = [RunEvents(60.0, (_kernel("k", 40), _kernel("r", 10)))]
    ledger = book(runs, session, TABLE, cost=ProfilerCost(inside_us=4.0, outside_us=3.0))
    assert ledger.layers["conv"].raw_ms == pytest.approx(0.040)
    assert ledger.layers["conv"].ms < 0.040
    assert ledger.buckets["reorder"].ms < 0.010
    assert ledger.kernel_ms + ledger.gap_ms == pytest.approx(0.060)


def test_equal_names_in_different_containers_are_told_apart() -> None:
    session = _session({("then", "k"): _node("k", "conv"), ("else", "k"): _node("k", "pool")})
    runs = [RunEvents(200.0, (_kernel("k", 100, container="then"), _kernel("k", 7, container="else")))]
    ledger = book(runs, session, TABLE)
    assert ledger.layers["conv"].ms == pytest.approx(0.1)
    assert ledger.layers["pool"].ms == pytest.approx(0.007)


def test_nameless_nodes_are_joined_by_operator_in_order() -> None:
    nameless: dict[tuple[str | None, str], tuple[ExecutedNode, ...]] = {}
    nameless[None, "Mul"] = (_node("Mul#1", "conv", op_type="Mul"), _node("Mul#2", "pool", op_type="Mul"))
    kernels = (_kernel("Mul_38", 1000, op_type="Mul"), _kernel("Mul_41", 2000, op_type="Mul"))
    ledger = book([RunEvents(4000.0, kernels)] * 2, _session({}, nameless), TABLE)
    assert ledger.layers["conv"].ms == pytest.approx(1)
    assert ledger.layers["pool"].ms == pytest.approx(2)


def test_forms_say_what_a_layer_runs_as_and_within_which_other() -> None:
    forms = executed_forms(
        [
            _node("a", "conv", "relu", domain="com.microsoft.nchwc"),
            _node("b", "pool", op_type="QLinearPool"),
            _node("c", "odd", op_type="Add"),
            _node("d", "odd", op_type="Mul"),
        ],
        TABLE,
    )
    assert forms["conv"] == "Conv+Relu (NCHWc)"
    assert forms["relu"] == "in conv: Conv+Relu (NCHWc)"
    assert forms["pool"] == "QLinearPool"
    assert forms["odd"] == "Add, Mul"
    assert "cast" not in forms
