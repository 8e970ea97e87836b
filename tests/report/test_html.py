"""The page: verdict first, every name escaped, nothing asked of anywhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

from markupsafe import escape

from core.report.diagnosis import explanation
from core.report.html import layer_rows, not_done, report_html, verdict

EVIL = '<img src=x onerror="alert(1)">'
VOID = {"meta", "link", "input", "br", "img", "rect", "circle", "line"}


def profile(ms: float) -> dict[str, Any]:
    layers = [{"id": EVIL, "op": "Conv", "ms": ms}, {"id": "b", "op": "Relu", "ms": 0.0}]
    return {"kernel_ms": ms, "layers": layers, "buckets": {"quantize": 0.1, "cast": 0.0}}


def optimized(**changes: Any) -> dict[str, Any]:
    layer = {"group": "g", "op": "Conv", "requested": "int8", "produced": "int8", "executed": "int8", "why": EVIL}
    latency = {
        "ratio": 2.5,
        "ci95": [2.4, 2.6],
        "before_ms": 2.0,
        "after_ms": 0.8,
        "how": "paired",
    }
    document: dict[str, Any] = {
        "mixdesk": "0.1.0",
        "model": f"net {EVIL}",
        "name": "auto-mix",
        "unchanged": False,
        "why": "2 of 2 groups",
        "target": {"text": "sqnr>=30", "met": True, "each": [_condition()]},
        "speedup": latency,
        "layers": [{**layer, "id": EVIL}, {**layer, "id": "b", "executed": "fp32"}],
        "front": [
            {"latency_ms": 1.0, "sqnr_db": 40.0, "bytes": 5, "accepted": True, "groups": 1},
            {"latency_ms": 0.8, "sqnr_db": 31.0, "bytes": 4, "accepted": False, "groups": 2},
        ],
        "sensitivity": [
            {"group": EVIL, "precision": "int8", "sqnr_db": 35.0},
            {"group": "b", "precision": "int8", "sqnr_db": 50.0},
        ],
        "bytes": 5,
        "notes": ["Weights are 7-bit"],
        "dynamic": {"allowed": True, "built": [], "why": "This version builds no early exits."},
        "comparison": {
            "ratio": {"latency": {"value": 2.5, "ci95": [2.4, 2.6]}, "size": 2.0},
            "latency": latency,
            "verdict": "better",
            "why": "It is 2.50 times as fast.",
            "size": {"before_bytes": 10, "after_bytes": 5},
            "accuracy": {"before": None, "why": "the data has no labels"},
            "fidelity": {"sqnr_db": 40.0, "agreement": None},
        },
        "profile": profile(0.8),
        "original_profile": profile(2.0),
        "conditions": {"cpu": EVIL, "threads": 1},
        "data": {
            "name": "d",
            "samples": 4,
            "synthetic": True,
            "splits": {"holdout": 4},
            "labels": False,
            "remarks": [],
        },
        "recipe": {"version": 1, "rules": [{"match": EVIL}]},
    }
    return {**document, **changes}


def _condition() -> dict[str, Any]:
    figures = {"required": 30.0, "value": 40.0, "bound": 39.0, "met": True, "samples": 4, "why": None}
    return {"text": "sqnr>=30", "metric": "sqnr", **figures}


class _Balanced(HTMLParser):
    """Fails where a tag is closed that was not opened last."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag


def parsed(document: dict[str, Any]) -> _Balanced:
    reader = _Balanced()
    reader.feed(report_html(document))
    assert reader.open == []
    return reader


def test_names_are_text_wherever_they_stand() -> None:
    page = report_html(optimized())
    assert EVIL not in page
    assert "&lt;img src=x" in page
    tags = parsed(optimized()).seen
    assert "img" not in {tag for tag, _ in tags}
    assert not [name for _, attributes in tags for name in attributes if name.startswith("on")]


def test_the_page_asks_nothing_of_anywhere_and_runs_nothing() -> None:
    page = report_html(optimized())
    assert "<script" not in page
    assert "url(" not in page
    assert not re.search(r"https?://", page)
    for tag, attributes in parsed(optimized()).seen:
        assert "src" not in attributes, tag
        assert attributes.get("href", "data:,") == "data:,"
    assert "default-src 'none'" in page


def test_the_gain_comes_first_with_its_interval_and_the_target() -> None:
    page = report_html(optimized())
    assert page.index("2.50x") < page.index("Latency") < page.index("Conditions")
    assert "95 % interval 2.40–2.60x" in page
    assert ">met</b>" in page
    assert "measured 40.0, required 30.0, 95 % bound 39.0" in page


def test_a_missed_target_says_so() -> None:
    missed = {**_condition(), "met": False}
    assert ">NOT met</b>" in report_html(optimized(target={"text": "t", "met": False, "each": [missed]}))


def test_unchanged_says_that_the_original_stays() -> None:
    told = verdict(optimized(unchanged=True, why="Nothing was faster."))
    assert (told["figure"], told["what"], told["why"]) == ("Unchanged", "the original stays", "Nothing was faster.")
    assert "None was chosen." in report_html(optimized(unchanged=True))


def test_a_build_that_was_not_measured_says_so() -> None:
    document = optimized(comparison=None, speedup=None, target=None, profile=None, original_profile=None, front=[])
    assert verdict(document)["figure"] == "Built"
    assert "Nothing was measured" in report_html(document)
    parsed(document)


def test_a_comparison_alone_is_a_page_too() -> None:
    document = {**optimized()["comparison"], "gate": None, "conditions": {"cpu": "c"}}
    page = report_html(document)
    assert "2.50x" in page
    assert "requested, produced, executed" not in page
    parsed(document)


def test_layers_have_times_and_those_that_do_not_run_as_asked_are_marked() -> None:
    rows = layer_rows(optimized())
    assert [(row["before"], row["after"]) for row in rows] == [("2.00 ms", "0.800 ms"), ("0 ms", "0 ms")]
    assert [row["as_asked"] for row in rows] == [True, False]
    assert "Only the one that does not run as asked" in report_html(optimized())


def test_what_was_not_done_is_told_with_its_reason() -> None:
    told = " ".join(not_done(optimized()))
    for part in ("Weights are 7-bit.", "builds no early exits", "no labels", "Energy was not measured"):
        assert part in told


def test_synthetic_inputs_are_said_loudly() -> None:
    assert "The inputs are made up" in report_html(optimized())
    assert "The inputs are made up" not in report_html(optimized(data=None))


def test_what_the_runtime_draws_into_eight_bits_has_its_reason_in_the_report() -> None:
    document = optimized()
    mover = {"id": "flat", "group": "flat", "op": "Transpose", "requested": "fp32", "produced": "fp32"}
    document["layers"].append({**mover, "executed": "int8", "why": "it has no weights"})
    told = "placed as fp32; the runtime moves the 8-bit codes through it (it has no weights)"
    assert told in report_html(document)


def test_a_precision_class_is_never_made_of_a_foreign_name() -> None:
    document = optimized()
    document["layers"][0]["executed"] = 'x" onload="y'
    assert 'class="p-x' not in report_html(document)


def test_ten_thousand_layers_make_a_page() -> None:
    layer = optimized()["layers"][1]
    page = report_html(optimized(layers=[{**layer, "id": f"layer_{i}"} for i in range(10_000)]))
    assert page.count("<tr class=") == 10_000


def made_for(model: str = "silero-vad") -> dict[str, Any]:
    return {"model": model, "sha256": "1a" * 32, "layers": []}


def head_of(page: str) -> str:
    return page[page.index("<header>") : page.index("</header>")]


def test_the_title_and_the_head_name_model_candidate_data_and_whose_each_hash_is() -> None:
    data = {**optimized()["data"], "synthetic": False, "name": "speech", "sha256": "cd" * 32}
    built = optimized(model=None, made_for=made_for(), sha256="ef" * 32, data=data)
    page = report_html(built, name="all int8")
    assert "<title>silero-vad: all int8 · Mixdesk report</title>" in page
    head = head_of(page)
    for part in ("<h1>silero-vad</h1>", "candidate all int8", "data speech", f"Original file {'1a' * 6}<"):
        assert part in head
    assert f'title="sha256 {"ef" * 32}">Candidate file {"ef" * 6}<' in head
    assert f"<dt>Original file</dt><dd>sha256 {'1a' * 32}</dd>" in page
    assert f"<dt>Candidate file</dt><dd>sha256 {'ef' * 32}</dd>" in page
    assert "Model file" not in page


def test_synthetic_data_and_what_is_not_known_are_no_names() -> None:
    assert "data synthetic inputs" in head_of(report_html(optimized()))
    alone = report_html({**optimized()["comparison"], "gate": None})
    assert "<title>Comparison · Mixdesk report</title>" in alone
    assert "None" not in head_of(alone)


def test_the_two_sums_of_time_are_in_one_unit() -> None:
    page = report_html(optimized(original_profile=profile(0.0595), profile=profile(0.02)))
    assert "Before · 0.160 ms" in page
    assert "After · 0.120 ms" in page
    document = optimized()
    for part, ms in (("original_profile", 0.0595), ("profile", 0.12)):
        document[part] = {**profile(ms), "buckets": {}}
    page = report_html(document)
    assert "Before · 59.5 µs" in page
    assert "After · 120 µs" in page
    assert layer_rows(document)[0]["before"] == "59.5 µs"
    assert layer_rows(document)[0]["after"] == "120 µs"


def test_a_very_long_name_of_a_layer_is_cut_in_the_middle_and_told_whole_when_pointed_at() -> None:
    name = "start/" + "a_long_way/" * 30 + "end"
    layer = {**optimized()["layers"][1], "id": name}
    page = report_html(optimized(layers=[layer, optimized()["layers"][1]]))
    assert f'<td class="id" title="{name}">start/' in page
    assert f">{name}<" not in page
    assert '<td class="id">b</td>' in page


def test_faster_but_below_the_default_target_is_not_told_as_better_as_a_whole() -> None:
    document = optimized(target=None)
    assert verdict(document)["tone"] == "better"
    document["comparison"]["fidelity"]["sqnr_db"] = 21.4
    assert verdict(document)["tone"] == "even"
    page = report_html(document)
    assert '<span class="chip not">Fidelity (SQNR) 21.4 dB · <b>below the default target of 25 dB</b></span>' in page
    assert '<div class="below">below the default target of 25 dB</div>' in page


def test_counts_of_one_are_in_the_singular() -> None:
    one = optimized()["layers"][1]
    assert "Only the one that does not run as asked" in report_html(optimized())
    assert "Only the 2 that do not run as asked" in report_html(optimized(layers=[one, {**one, "id": "c"}]))
    data = {**optimized()["data"], "samples": 1, "synthetic": False}
    assert "d: 1 sample (4 holdout)" in report_html(optimized(data=data))


def test_why_it_is_not_faster_is_told_as_on_the_page_compare_and_only_then() -> None:
    assert "Why it is not faster" not in report_html(optimized())
    slower = {"ratio": {"latency": {"value": 0.8, "ci95": [0.7, 0.9]}}, "verdict": "worse", "latency": None}
    document = optimized(speedup=None, conversions={"count": 1, "ms": 0.1}, tried=optimized()["comparison"])
    document["comparison"] = {**document["comparison"], **slower}
    document["profile"] = {**profile(2.5), "layers": [{"id": EVIL, "op": "Conv", "ms": 2.4, "share": 0.9}]}
    found = explanation(document)
    assert found is not None
    assert len(found.sentences) == 4
    page = report_html(document)
    assert "<h2>Why it is not faster</h2>" in page
    for sentence in found.sentences:
        assert f"<li>{escape(sentence)}</li>" in page
    assert page.count("The best mix that was tried and not taken") == 1
    parsed(document)


def test_the_advice_on_the_result_is_told_with_its_change() -> None:
    advice = {"rule": "r", "evidence": EVIL, "consequence": "So it is.", "remedy": "Do it.", "layers": []}
    change = {"rules": [{"match": "group:conv1", "precision": "fp32"}], "session": {}}
    document = optimized(profile={**profile(1.0), "advice": [{**advice, "change": change}]})
    page = report_html(document)
    assert "What the profile of the result shows" in page
    assert str(escape(EVIL)) in page
    assert EVIL not in page
    assert "Change: conv1 to fp32." in page
    assert "What the profile" not in report_html(optimized())
