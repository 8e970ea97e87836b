"""Why a candidate is not faster: each reason carries its figures, and none is made up."""

from __future__ import annotations

from typing import Any

from core.report.asked import asked_and_got
from core.report.diagnosis import explanation, reasons
from tests.dashboard.documents import build_document, inspect_document, profile_document


def told(speedup: float, **options: object) -> tuple[str, ...]:
    inspection = inspect_document(60)
    document = {**build_document(inspection, speedup=speedup), **options}
    return reasons(document, original=profile_document(inspection))


def test_layers_that_became_slower_are_named_with_both_times() -> None:
    (slower,) = [reason for reason in told(0.8) if "became slower" in reason]
    assert "0.342 ms → 0.428 ms" in slower


def test_costly_conversions_are_told_with_their_time() -> None:
    assert any(reason.startswith("4 conversions between precisions take 0.300 ms of the ") for reason in told(0.8))
    assert not any("conversions between precisions take" in reason for reason in told(2.84))


def test_layers_that_do_not_run_as_asked_are_counted_with_the_commonest_reason() -> None:
    assert any(reason.startswith("2 of 26 layers do not run as asked") for reason in told(0.8))


def test_the_solvers_own_reason_comes_first() -> None:
    assert told(1.0, unchanged=True, why="Nothing was faster.")[0] == "Nothing was faster."


def kept_original(target: str, required: float, **reached: float) -> tuple[str, ...]:
    """The reasons of a search whose best mix came to these figures on the holdout."""
    document = build_document(inspect_document(12), speedup=1.0)
    each = [{"text": target, "metric": target.partition(">=")[0], "required": required, "value": None, "met": True}]
    compared = {
        "fidelity": {name: reached.get(name) for name in ("sqnr_db", "agreement")},
        "accuracy": {name: reached.get(name) for name in ("before", "after")},
    }
    layers = [{**row, "requested": "fp32", "executed": "fp32"} for row in document["layers"]]
    kept = {"unchanged": True, "why": "The best mix missed it.", "target": {"text": target, "each": each}}
    return reasons({**document, **kept, "tried": compared, "layers": layers})


def test_a_target_missed_on_the_holdout_is_told_with_figures_and_advice() -> None:
    (why, told) = kept_original("sqnr>=25", 25.0, sqnr_db=24.9)
    assert why == "The best mix missed it."
    assert told.startswith(
        "The best mix gave sqnr 24.9 dB on the holdout, where 25.0 dB is needed. Ask for sqnr>=25.5,"
    )
    assert "so that the search leaves room, or for sqnr>=24.5, if that is enough" in told
    (_, told) = kept_original("sqnr>=25", 25.0, sqnr_db=24.97)
    assert "24.97 dB on the holdout, where 25.00 dB is needed" in told
    (_, told) = kept_original("accuracy>=99%", 0.891, before=0.9, after=0.88)
    assert "accuracy 88.0 % on the holdout, where 89.1 % is needed. Ask for accuracy>=99.5%" in told
    assert "or for accuracy>=97.5%" in told
    (_, told) = kept_original("accuracy>=0.9", 0.9, before=0.95, after=0.893)
    assert "Ask for accuracy>=0.95, so that the search leaves room, or for accuracy>=0.89," in told


def test_a_share_of_all_leaves_no_room_to_ask_for_more() -> None:
    (_, told) = kept_original("agreement>=100%", 1.0, agreement=0.984)
    assert "needed. Ask for agreement>=98%, if that is enough" in told


def test_where_the_mix_kept_the_target_nothing_is_said_of_it() -> None:
    assert kept_original("sqnr>=25", 25.0, sqnr_db=26.0) == ("The best mix missed it.",)


def test_that_nothing_was_lowered_is_said_of_a_recipe_and_not_of_a_search() -> None:
    lowered = "Nothing was lowered, so there is nothing that could be faster."
    inspection = inspect_document(12)
    document = build_document(inspection)
    layers = [{**row, "requested": "fp32", "executed": "fp32"} for row in document["layers"]]
    assert lowered in reasons({**document, "layers": layers})
    kept = {"unchanged": True, "why": "No mix kept the target."}
    assert lowered not in reasons({**document, "layers": layers, **kept})


def test_without_a_profile_nothing_is_said_of_single_layers() -> None:
    inspection = inspect_document(60)
    document = build_document(inspection, speedup=0.8, missing=True)
    assert not any("became slower" in reason for reason in reasons(document, original=profile_document(inspection)))
    assert not any("became slower" in reason for reason in reasons(build_document(inspection, speedup=0.8)))


def test_asked_and_got_adds_up() -> None:
    rows = [
        {"requested": "int8", "executed": "int8"},
        {"requested": "int8", "executed": "folded"},
        {"requested": "int8", "executed": "fp32"},
        {"requested": "fp32", "executed": "fp32"},
    ]
    sentence = "Asked for int8 in 3 layers: 1 runs so, 1 is folded into other kernels, 1 does not."
    assert asked_and_got(rows) == sentence
    drawn = {"requested": "fp32", "executed": "int8"}
    assert asked_and_got([*rows, drawn]) == (
        f"{sentence} 1 layer that was to stay in fp32 does not, by the runtime's own choice."
    )
    assert asked_and_got(rows[:1] * 2) == "Asked for int8 in 2 layers: 2 run so, none is missing."
    assert asked_and_got(rows[3:]) == "Nothing was asked to change: every layer stays in fp32."


def test_counts_of_one_are_in_the_singular() -> None:
    inspection = inspect_document(60)
    document = build_document(inspection, speedup=0.8, refuse_every=20)
    document["conversions"] = {"count": 1, "ms": 0.3}
    document["profile"]["layers"] = profile_document(inspection)["layers"]
    found = document["profile"]["layers"][0]
    document["profile"]["layers"][0] = {**found, "ms": 3 * found["ms"], "share": 0.5}
    missed, conversion, slower = reasons(document, original=profile_document(inspection))
    assert missed.startswith("1 of 26 layers does not run as asked: ")
    assert conversion.startswith("1 conversion between precisions takes 0.300 ms of the ")
    assert slower.startswith("1 layer became slower: stem/conv (Conv) ")


def test_a_very_long_name_of_a_layer_is_cut_in_the_middle() -> None:
    long = "x" * 200 + "/"
    inspection = inspect_document(60, prefix=long)
    found = reasons(build_document(inspection, speedup=0.8), original=profile_document(inspection))
    (slower,) = [reason for reason in found if "became slower" in reason]
    assert long not in slower
    assert "x…" in slower


def test_a_gain_needs_no_explanation_and_what_was_tried_comes_last() -> None:
    def explained(speedup: float, **changes: Any) -> Any:
        return explanation({**build_document(inspect_document(60), speedup=speedup), **changes})

    assert explained(2.0) is None
    assert explained(0.8, layers=[]) is None
    slow = explained(0.8, tried={"latency": {"ratio": 0.9, "before_ms": 1.0, "after_ms": 1.1}})
    assert slow.title == "Why it is not faster"
    assert slow.sentences[-1].startswith("The best mix that was tried and not taken: 0.900x")
    assert explained(0.8, comparison={"ratio": None}).title == "What is known"
    layers = [{"id": "a", "op": "Conv", "requested": "int8", "executed": "int8"}]
    same = explained(1.0, layers=layers, conversions=None)
    assert same.sentences == ("No layer stands out: the gain is smaller than the noise of this machine.",)
    slower = explained(0.8, layers=layers, conversions=None, profile=None, original_profile=None)
    assert slower.sentences == ("It is slower, but neither a layer nor a conversion stands out as the cause.",)
