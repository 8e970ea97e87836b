"""Numbers as they are written on pages and in the terminal."""

from __future__ import annotations

import math

import pytest

from core.report import quantities


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.8375, "1.84"),
        (31.0, "31.0"),
        (118.4, "118"),
        (12345.0, "12300"),
        (0.0123456, "0.0123"),
        (9.999, "10.0"),
        (0.09996, "0.100"),
        (999.7, "1000"),
        (-2.5, "-2.50"),
        (0, "0"),
        (None, "not known"),
        (math.nan, "not known"),
        (math.inf, "not known"),
    ],
)
def test_three_significant_digits(value: float | None, text: str) -> None:
    assert quantities.three(value) == text


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (1.8375, "1.84 ms"),
        (0.0213, "21.3 µs"),
        (0.0, "0 ms"),
        (950.0, "950 ms"),
        (61_000.0, "61.0 s"),
        (None, "not known"),
    ],
)
def test_a_time_takes_the_unit_that_reads_best(ms: float | None, text: str) -> None:
    assert quantities.time_ms(ms) == text


def test_both_ends_of_an_interval_share_one_unit() -> None:
    assert quantities.time_range([2.61, 2.674]) == "2.61–2.67 ms"
    assert quantities.time_range([0.0911, 0.0932]) == "91.1–93.2 µs"
    assert quantities.time_range([0.095, 0.11]) == "0.0950–0.110 ms"
    assert quantities.time_range(None) == "not known"
    assert quantities.time_range([1.0, math.nan]) == "not known"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 B"),
        (640, "640 B"),
        (11_200_000, "11.2 MB"),
        (999_990, "1.00 MB"),
        (2.5e9, "2.50 GB"),
        (None, "not known"),
    ],
)
def test_sizes_step_by_a_thousand(value: float | None, text: str) -> None:
    assert quantities.size(value) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (118_000_000, "MAC", "118 MMAC"),
        (2_800_000, "", "2.80 M"),
        (640, "", "640"),
        (999_700, "", "1.00 M"),
        (12, "layers", "12 layers"),
    ],
)
def test_counts_take_a_prefix(value: float, unit: str, text: str) -> None:
    assert quantities.count(value, unit) == text


def test_shares_ratios_and_points_say_their_unit() -> None:
    assert quantities.share(0.31) == "31.0 %"
    assert quantities.ratio(2.8412) == "2.84x"
    assert quantities.ratio_range([2.79, 2.884]) == "2.79–2.88x"
    assert quantities.points(-0.0042) == "-0.420 points"
    assert quantities.points(0.01) == "+1.00 points"


def test_shapes_read_like_a_tensor_and_unknown_ones_say_so() -> None:
    assert quantities.shape([1, 64, "height", 56]) == "1x64xheightx56"
    assert quantities.shape([]) == "scalar"
    assert quantities.shape(None) == "not known"


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ((0.0595, 0.12), ("59.5 µs", "120 µs")),
        ((0.166, 0.132), ("0.166 ms", "0.132 ms")),
        ((0.0595, 25.0), ("0.0595 ms", "25.0 ms")),
        ((9_000.0, 12_000.0), ("9000 ms", "12000 ms")),
        ((11_000.0, 12_000.0), ("11.0 s", "12.0 s")),
        ((0.05, None), ("50.0 µs", "not known")),
        ((0.0, 0.05), ("0 µs", "50.0 µs")),
        ((None, 0.0), ("not known", "0 ms")),
    ],
)
def test_times_side_by_side_have_one_unit(values: tuple[float | None, ...], texts: tuple[str, ...]) -> None:
    assert quantities.times_ms(*values) == texts


def test_one_thing_is_told_in_the_singular() -> None:
    assert [quantities.counted(number, "layer") for number in (0, 1, 2)] == ["0 layers", "1 layer", "2 layers"]
    assert [quantities.counted(number, "mix", "mixes") for number in (1, 2)] == ["1 mix", "2 mixes"]
