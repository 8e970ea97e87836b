from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest

from core.errors import StoppedError
from core.graph.read import read_layers
from core.intake.feeds import Dataset
from core.intake.load import load_model
from core.measure.profile import profile_model
from core.measure.profiled import Profile
from core.measure.spent import BUCKETS
from core.progress import Silent
from core.runtime.settings import SessionSettings
from core.runtime.tags import BUCKET_KEY, LAYER_KEY
from tests.measure.data import convolutions
from tests.runtime.models import parse

SETTINGS = SessionSettings()


@pytest.fixture(scope="module")
def profile() -> Profile:
    model, data = convolutions()
    return profile_model(model, read_layers(model), data, settings=SETTINGS, runs=12, seed=1)


def test_layers_buckets_and_gap_add_up(profile: Profile) -> None:
    told = profile.to_dict()
    kernels = sum(row["ms"] for row in told["layers"]) + sum(told["buckets"].values())
    assert told["kernel_ms"] == pytest.approx(kernels)
    assert told["instrumented_ms"] == pytest.approx(told["kernel_ms"] + told["gap_ms"])
    assert told["attributed_share"] == pytest.approx(1 - told["buckets"]["unattributed"] / told["kernel_ms"])
    shares = sum(row["share"] for row in told["layers"])
    assert shares == pytest.approx(1 - sum(told["buckets"].values()) / kernels)


def test_overhead_is_the_instrumented_run_over_the_median_without_instruments(profile: Profile) -> None:
    document = profile.to_dict()
    assert document["overhead"] == pytest.approx(document["instrumented_ms"] / document["wall_ms"]["median"])


def test_all_kernel_time_has_an_owner(profile: Profile) -> None:
    assert profile.attributed_share == 1
    assert set(profile.buckets) == set(BUCKETS)
    assert profile.buckets["reorder"] > 0


def test_every_layer_has_a_row_and_says_what_it_runs_as(profile: Profile) -> None:
    rows = {row.layer.id: row for row in profile.layers}
    assert list(rows) == ["conv1", "bn1", "relu1", "conv2", "add", "y"]
    assert rows["conv1"].executes_as == "Conv+BatchNormalization+Relu (NCHWc)"
    assert rows["bn1"].executes_as == "in conv1: Conv+BatchNormalization+Relu (NCHWc)"
    assert rows["conv1"].ms > 0
    assert rows["relu1"].ms == 0
    assert rows["conv1"].runs == 1
    assert rows["conv1"].macs == 16 * 16 * 9 * 64
    assert rows["conv1"].moved_bytes is not None
    assert rows["conv1"].moved_bytes >= 2 * 16 * 64 * 4


def test_the_document_has_the_contracts_keys(profile: Profile) -> None:
    told = profile.to_dict()
    assert {"median", "mean", "ci95", "p95", "basis"} == set(told["wall_ms"])
    assert told["wall_ms"]["ci95"][0] <= told["wall_ms"]["mean"] <= told["wall_ms"]["ci95"][1]
    row = {
        "id",
        "group",
        "op",
        "ms",
        "share",
        "macs",
        "bytes",
        "intensity",
        "gflops",
        "attained",
        "limited_by",
        "executes_as",
        "runs",
        "precision",
        "raw_ms",
    }
    assert all(row == set(layer) for layer in told["layers"])
    assert told["memory"]["arena_peak_bytes"] > 0
    assert told["memory"]["activation_peak_bytes"] == 3 * 16 * 64 * 4
    assert told["memory"]["process_peak_bytes"] > 10e6
    assert told["conditions"]["seed"] == 1
    assert told["runs"] == 12


def test_a_loop_counts_its_iterations_and_its_own_time_once() -> None:
    body = """
      n = Constant<value = int64 {5}>()
      go = Constant<value = bool {1}>()
      y = Loop(n, go, x)<body = l (int64 i, bool c, float[64] s) => (bool c2, float[64] s2) {
        c2 = Identity(c) t = Exp(s) s2 = Neg(t)
      }>
    """
    model = load_model(ir.to_proto(parse(body, "(float[64] x) => (float[64] y)")).SerializeToString(), name="loop")
    data = Dataset("x", "3" * 64, False, {"x": np.zeros((2, 64), np.float32)}, None, np.full(2, 1, np.int8))
    found = profile_model(model, read_layers(model), data, settings=SETTINGS, runs=6)
    rows = {row.layer.id: row for row in found.layers}
    assert rows["y/body/t"].runs == 5
    assert rows["y"].runs == 1
    assert found.attributed_share == 1
    assert found.gap_ms >= 0


def test_a_branch_that_was_not_taken_says_so() -> None:
    body = """
      flag = Greater(a, b)
      y = If(flag)<
        then_branch = t () => (float[64] u) { u = Exp(x) },
        else_branch = e () => (float[64] v) { v = Abs(x) }
      >
    """
    signature = "(float[64] x, float a, float b) => (float[64] y)"
    model = load_model(ir.to_proto(parse(body, signature)).SerializeToString(), name="if")
    inputs = {"x": np.zeros((2, 64), np.float32), "a": np.zeros(2, np.float32), "b": np.ones(2, np.float32)}
    data = Dataset("x", "4" * 64, False, inputs, None, np.full(2, 1, np.int8))
    found = profile_model(model, read_layers(model), data, settings=SETTINGS, runs=6)
    rows = {row.layer.id: row for row in found.layers}
    assert rows["y/then/u"].runs == 0
    assert rows["y/then/u"].executes_as == "Exp (not run on this data)"
    assert rows["y/else/v"].executes_as == "Abs"


def test_a_candidate_is_profiled_by_the_layers_of_its_original() -> None:
    original = load_model(
        ir.to_proto(parse("a = Exp(x) y = Neg(a)", "(float[64] x) => (float[64] y)")).SerializeToString(), name="o"
    )
    changed = parse("p = Cast<to = 11>(x) q = Exp(p) r = Cast<to = 1>(q) y = Neg(r)", "(float[64] x) => (float[64] y)")
    for node, key, value in zip(
        changed.graph,
        (BUCKET_KEY, LAYER_KEY, BUCKET_KEY, LAYER_KEY),
        ("cast", "a", "cast", "y"),
        strict=True,
    ):
        node.metadata_props[key] = value
    candidate = load_model(ir.to_proto(changed).SerializeToString(), name="c")
    data = Dataset("x", "5" * 64, False, {"x": np.zeros((2, 64), np.float32)}, None, np.full(2, 1, np.int8))
    found = profile_model(candidate, read_layers(original), data, settings=SETTINGS, runs=6)
    assert [(row.layer.id, row.executes_as) for row in found.layers] == [("a", "Exp"), ("y", "Neg")]
    assert found.buckets["cast"] > 0
    assert found.buckets["unattributed"] == 0


class _Impatient(Silent):
    def step(self, done: int, total: int, what: str = "") -> None:
        if done >= 3:
            raise StoppedError("Stopped.")


def test_it_can_be_stopped_between_runs() -> None:
    model, data = convolutions()
    with pytest.raises(StoppedError):
        profile_model(model, read_layers(model), data, settings=SETTINGS, progress=_Impatient())


def test_batches_are_profiled_where_samples_can_run_together() -> None:
    text = "y = Relu(x)"
    model = load_model(ir.to_proto(parse(text, "(float[n, 4] x) => (float[n, 4] y)")).SerializeToString(), name="m")
    data = Dataset("x", "6" * 64, False, {"x": np.zeros((3, 1, 4), np.float32)}, None, np.full(3, 1, np.int8))
    found = profile_model(model, read_layers(model), data, settings=SETTINGS, batch=8, runs=3)
    assert found.conditions.batch == 8
    assert found.layers[0].moved_bytes == 2 * 8 * 4 * 4


def test_the_timeline_is_one_real_run_with_the_layers_of_each_kernel(profile: Profile) -> None:
    told = profile.to_dict()["timeline"]
    assert told["omitted"] == 0
    kernels = {kernel["op"]: kernel for kernel in told["kernels"]}
    assert [kernel["layers"] for kernel in told["kernels"] if kernel["op"] == "Conv"] == [
        ["conv1", "bn1", "relu1"],
        ["conv2", "add", "y"],
    ]
    assert kernels["ReorderInput"]["bucket"] == "reorder"
    starts = [kernel["start_ms"] for kernel in told["kernels"]]
    assert starts == sorted(starts)
    assert starts[0] >= 0
    assert starts[-1] + told["kernels"][-1]["span_ms"] <= told["ms"] + 0.002
    assert sum(kernel["ms"] for kernel in told["kernels"]) <= told["ms"]


def test_a_body_runs_inside_its_container_on_the_timeline() -> None:
    body = """
      n = Constant<value = int64 {3}>()
      go = Constant<value = bool {1}>()
      y = Loop(n, go, x)<body = l (int64 i, bool c, float[64] s) => (bool c2, float[64] s2) {
        c2 = Identity(c) s2 = Exp(s)
      }>
    """
    model = load_model(ir.to_proto(parse(body, "(float[64] x) => (float[64] y)")).SerializeToString(), name="loop")
    data = Dataset("x", "3" * 64, False, {"x": np.zeros((1, 64), np.float32)}, None, np.full(1, 1, np.int8))
    kernels = profile_model(model, read_layers(model), data, settings=SETTINGS, runs=4).timeline.kernels
    (loop,) = [kernel for kernel in kernels if kernel.op == "Loop"]
    inside = [kernel for kernel in kernels if kernel.layers == ("y/body/s2",)]
    assert len(inside) == 3
    assert {kernel.container for kernel in inside} == {"y"}
    assert loop.container is None
    assert sum(kernel.span_ms for kernel in inside) <= loop.span_ms
    assert loop.ms < loop.span_ms


def test_precision_is_what_the_kernel_computes_in(profile: Profile) -> None:
    assert {row.layer.id: row.precision for row in profile.layers} == dict.fromkeys(
        ("conv1", "bn1", "relu1", "conv2", "add", "y"), "fp32"
    )


def test_the_cold_start_and_the_measured_run_stand_in_the_document(profile: Profile) -> None:
    told = profile.to_dict()
    assert told["cold"]["load_ms"] > 0
    assert told["cold"]["first_run_ms"] > 0
    assert told["instrumented_run_ms"] > 0
