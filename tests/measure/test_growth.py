"""Growth: several shapes measured in turn, and how each layer's cost grows with them."""

from __future__ import annotations

import pytest

from core.errors import DataError, RequestError, RunError
from core.intake.model import Model
from core.measure.first_run import RunLimits
from core.measure.growth import (
    Growth,
    GrowthPlan,
    NamedShapes,
    check_points,
    count_elements,
    exponent,
    measure_growth,
    try_points,
)
from core.progress import Silent
from core.runtime.settings import SessionSettings
from tests.intake.texts import load

SETTINGS = SessionSettings()
#: The product of a [n, 64] with itself costs n * n * 64; what is fixed does not grow.
MODEL = """g (float[n, 64] x, float[256, 256] c) => (float[n, n] y, float[256, 256] d) {
    [turn] t = Transpose <perm = [1, 0]> (x)
    [square] y = MatMul (x, t)
    [same] d = MatMul (c, c)
}"""


def points(*sizes: int) -> list[NamedShapes]:
    return [NamedShapes(f"n{size}", {"x": (size, 64)}) for size in sizes]


@pytest.fixture(scope="module")
def grown() -> Growth:
    return measure_growth(load(MODEL), points(512, 128, 256), SETTINGS, GrowthPlan(runs=5, seed=1))


def test_points_come_smallest_first_with_the_shapes_of_all_inputs(grown: Growth) -> None:
    assert [point.name for point in grown.points] == ["n128", "n256", "n512"]
    assert grown.points[0].shapes == {"x": (128, 64), "c": (256, 256)}
    assert grown.points[0].elements == 128 * 64 + 256 * 256
    assert all(point.wall.median_ms > 0 and point.kernel_ms > 0 for point in grown.points)


@pytest.mark.xdist_group("timing")
def test_a_layer_that_grows_does_and_one_that_does_not_does_not(grown: Growth) -> None:
    layers = {layer.id: layer for layer in grown.layers}
    square, same = layers["square"], layers["same"]
    assert all(time is not None for time in (*square.ms, *same.ms))
    assert (square.ms[2] or 0) > 4 * (square.ms[0] or 1)
    assert 0.5 < (same.ms[2] or 0) / (same.ms[0] or 1) < 2.0
    assert (square.exponent or 0) > (same.exponent or 0) + 1.0


def test_its_document_has_the_agreed_keys(grown: Growth) -> None:
    document = grown.to_dict()
    assert set(document) == {"points", "layers", "data"}
    assert set(document["points"][0]) == {"name", "shapes", "elements", "wall_ms", "kernel_ms"}
    assert set(document["layers"][0]) == {"id", "ms", "exponent"}
    assert [len(layer["ms"]) for layer in document["layers"]] == [3] * 3
    assert document["data"] == "Synthetic inputs of these shapes (seed 1)."


def test_the_exponent_is_the_slope_of_the_logarithms() -> None:
    assert exponent([10, 100, 1000], [0.2, 2.0, 20.0]) == pytest.approx(1.0, abs=1e-9)
    assert exponent([10, 100, 1000], [1.0, 100.0, 10_000.0]) == pytest.approx(2.0, abs=1e-9)
    assert exponent([10, 100], [3.0, 3.0]) == pytest.approx(0.0, abs=1e-9)


def test_without_two_sizes_with_a_time_there_is_no_exponent() -> None:
    assert exponent([10, 10], [1.0, 2.0]) is None
    assert exponent([10, 100], [1.0, None]) is None
    assert exponent([10, 100], [0.0, 1.0]) is None


def test_a_shape_that_does_not_fit_names_the_point_and_the_input() -> None:
    model = load(MODEL)
    with pytest.raises(DataError, match=r"At 'wide': Input 'x' takes \[n, 64\], but the shape \[8, 65\] was given"):
        check_points(model, [*points(8), NamedShapes("wide", {"x": (8, 65)})])
    with pytest.raises(DataError, match=r"At 'odd': The model has no input 'xx'\. Did you mean 'x'"):
        check_points(model, [*points(8), NamedShapes("odd", {"xx": (8, 64)})])


@pytest.mark.parametrize("wrong", [points(8), points(8, 8), points(*range(1, 14))])
def test_too_few_too_many_or_equal_names_are_refused(wrong: list[NamedShapes]) -> None:
    with pytest.raises(RequestError):
        check_points(load(MODEL), wrong)


def test_a_shape_at_which_the_model_fails_is_told_with_its_name_before_anything_is_measured() -> None:
    model: Model = load("g (float[n] x) => (float[2, m] y) <int64[2] k = {2, -1}> { [halve] y = Reshape (x, k) }")
    named = check_points(model, [NamedShapes("odd", {"x": (7,)}), NamedShapes("even", {"x": (8,)})])
    with pytest.raises(RunError, match=r"At 'odd': .* layer 'halve'") as told:
        try_points(model, named, SETTINGS, RunLimits(), Silent())
    assert told.value.layer == "halve"
    try_points(model, named[1:], SETTINGS, RunLimits(), Silent())


def test_elements_are_counted_over_all_inputs() -> None:
    assert count_elements({"a": (2, 3), "b": ()}) == 7
