from __future__ import annotations

from dataclasses import replace

import pytest

from core.measure.islands import find_islands, find_round_trip
from core.measure.seen import SeenKernel
from tests.measure.sights import chain

Q, DQ = ("QuantizeLinear", None, 0.3), ("DequantizeLinear", None, 0.2)
F, INT = ("Conv", "fp32", 2.0), ("QLinearConv", "int8", 1.0)


def test_int8_between_fp32_is_an_island_with_both_its_borders() -> None:
    (island,) = find_islands(chain(F, Q, INT, INT, DQ, F))
    assert island.precision == "int8"
    assert island.layers == ("QLinearConv2", "QLinearConv3")
    assert (island.ms, island.conversions) == (2.0, 2)
    assert island.conversion_ms == pytest.approx(0.5)
    assert not island.own


def test_fp32_between_int8_is_an_island_too() -> None:
    (island,) = find_islands(chain(Q, INT, DQ, F, Q, INT, DQ))
    assert (island.precision, island.layers) == ("fp32", ("Conv3",))


def test_a_stretch_at_the_end_of_the_model_is_none() -> None:
    assert find_islands(chain(Q, INT, INT, DQ)) == ()
    assert find_islands(chain(F, Q, INT, DQ)) == ()
    assert find_islands(chain(F, F, F)) == ()


def test_conversions_that_the_file_has_are_its_own() -> None:
    (island,) = find_islands(chain(F, Q, INT, DQ, F, own=True))
    assert island.own
    assert island.layers == ("QLinearConv2",)


def test_a_side_path_in_fp32_leaves_the_int8_path_an_island_and_makes_none_of_the_rest() -> None:
    first, quantize, product, dequantize, last = chain(F, Q, INT, DQ, F)
    joined = replace(last, op="Add", reads=("t1", "t4"))
    (island,) = find_islands((first, quantize, product, dequantize, joined))
    assert island.precision == "int8"


def test_an_island_whose_neighbours_are_not_all_of_the_other_precision_is_none() -> None:
    first, quantize, product, dequantize, last = chain(F, Q, INT, DQ, F)
    also_int8 = SeenKernel("QLinearConv", 1.0, ("more",), None, "int8", ("t4",), ("t9",), ends=True)
    assert find_islands((first, quantize, product, dequantize, last, also_int8)) == ()


def test_the_costliest_border_comes_first() -> None:
    found = find_islands(chain(F, Q, INT, DQ, F, ("QuantizeLinear", None, 0.9), INT, DQ, F))
    assert [island.layers for island in found if island.precision == "int8"] == [("QLinearConv6",), ("QLinearConv2",)]


def test_a_tensor_quantized_and_at_once_dequantized_is_a_round_trip() -> None:
    trip = find_round_trip(chain(F, Q, DQ, F))
    assert trip is not None
    assert (trip.layers, trip.count) == (("Conv3",), 1)
    assert trip.ms == pytest.approx(0.5)
    assert find_round_trip(chain(F, Q, INT, DQ, F)) is None
    assert find_round_trip(chain(F, F)) is None


def test_a_quantizing_that_an_int8_kernel_reads_as_well_is_not_in_vain() -> None:
    first, quantize, dequantize, last = chain(F, Q, DQ, F)
    product = SeenKernel("QLinearConv", 1.0, ("more",), None, "int8", ("t2",), ("t9",), ends=True)
    trip = find_round_trip((first, quantize, dequantize, last, product))
    assert trip is not None
    assert trip.ms == pytest.approx(0.2)


def test_ten_thousand_kernels_are_searched_in_no_time() -> None:
    """Linear in the kernels: a search by pairs would look at a hundred million."""
    assert len(find_islands(chain(*(F, Q, INT, DQ) * 2500, F))) == 2500 + 2499
