"""Offers: only what the probe found executed can be chosen, everything else says why not."""

from __future__ import annotations

from core.recipe.precision import Precision, Support
from dashboard.offers import Offer, capability_of, offered_in_int8, offers
from tests.dashboard.documents import machine_document

OPS = ("Add", "Conv", "Relu")


def offer(machine: object, precision: Precision) -> Offer:
    assert machine is None or isinstance(machine, dict)
    return next(offer for offer in offers(machine, OPS) if offer.precision is precision)


def test_int8_is_offered_where_it_is_executed() -> None:
    found = offer(machine_document(), Precision.INT8)
    assert found.offered
    assert found.ops == ("Add", "Conv")


def test_int8_is_not_offered_where_it_is_only_emulated() -> None:
    machine = machine_document(conv="emulated")
    machine["capability"] = [row for row in machine["capability"] if row["op"] != "Add"]
    found = offer(machine, Precision.INT8)
    assert not found.offered
    assert "Conv is emulated on this machine" in found.why


def test_other_precisions_say_why_they_are_not_there() -> None:
    fp16 = offer(machine_document(), Precision.FP16)
    assert not fp16.offered
    assert "casts" in fp16.why
    assert "does not build" in fp16.why
    assert "not probed" in offer(machine_document(), Precision.FP8).why


def test_before_the_probe_only_fp32_can_be_chosen() -> None:
    assert [found.precision for found in offers(None, OPS) if found.offered] == [Precision.FP32]
    assert "not been probed" in offer(None, Precision.INT8).why
    assert offered_in_int8(None) is None


def test_what_is_executed_but_cannot_be_placed_is_not_offered() -> None:
    machine = machine_document()
    for row in machine["capability"]:
        row["op"] = "Softmax" if row["op"] == "Conv" else row["op"]
    found = next(each for each in offers(machine, ("Softmax",)) if each.precision is Precision.INT8)
    assert not found.offered
    assert found.ops == ()


def test_what_the_machine_could_do_in_other_precisions_is_told_with_its_speed() -> None:
    machine = machine_document()
    machine["capability"].append({**machine["capability"][4], "precision": "int8-dynamic", "speedup": 0.17})
    found = offer(machine, Precision.INT8_DYNAMIC)
    assert not found.offered
    assert found.why == "executed here for Conv (0.170x); this version does not build it"


def test_every_precision_of_the_desk_is_listed_those_to_choose_first() -> None:
    found = offers(machine_document(), OPS)
    assert {entry.precision for entry in found} == set(Precision)
    assert [entry.offered for entry in found] == sorted((entry.offered for entry in found), reverse=True)


def test_the_best_of_several_signatures_counts() -> None:
    machine = machine_document()
    slow = {**machine["capability"][4], "signature": "1x1", "state": "emulated", "speedup": None}
    machine["capability"].insert(0, slow)
    found = capability_of(machine, "Conv", Precision.INT8)
    assert found is not None
    assert found.state is Support.EXECUTED
    assert found.speedup == 2.4
    assert offered_in_int8(machine) == {
        "Conv": Support.EXECUTED,
        "Gemm": Support.EXECUTED,
        "MatMul": Support.EXECUTED,
        "Add": Support.EXECUTED,
    }
