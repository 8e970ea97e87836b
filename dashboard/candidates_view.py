"""Candidates side by side: every figure of each against one baseline, with direction, and what may not be compared.

Against the original each candidate was measured in pairs. Against another candidate it was only where somebody asked;
elsewhere the quotient of the two speed-ups is told as "derived", without an interval and without a verdict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from core.report import quantities
from core.report.lines import lowered_line
from core.report.tiles import IDENTICAL_DB, MEMORY_TOLERANCE, SIZE_TOLERANCE, Verdict, accuracy, latency
from core.store.rows import CandidateRow
from dashboard import conditions

Word = Verdict | Literal["derived", "baseline", "unchanged", ""]

#: Sign beside the word, so that direction can be seen at a glance and without colour.
SIGNS: Mapping[str, str] = {
    "better": "▲",
    "worse": "▼",
    "no difference seen": "=",
    "too noisy": "~",
    "derived": "≈",
    "unchanged": "=",
}
ORIGINAL = "Original"
_SAME_DB = 0.5


@dataclass(frozen=True, slots=True)
class Figure:
    """One metric of one candidate: its value in the column's unit, and how it stands against the baseline."""

    value: float | None = None
    change: str = ""
    word: Word = ""

    @property
    def told(self) -> str:
        """The change with its direction: "2.21x [2.01, 2.46] ▲ better"."""
        return " ".join(part for part in (self.change, SIGNS.get(self.word, ""), self.word) if part)


@dataclass(frozen=True, slots=True)
class Entry:
    """One candidate, or the original (`id` None), as a row of the table.

    `differs` says under which other conditions than the baseline's it was measured.
    """

    id: str | None
    name: str
    built: str = ""
    is_baseline: bool = False
    speed: Figure = field(default_factory=Figure)
    latency: str = ""
    size: Figure = field(default_factory=Figure)
    memory: Figure = field(default_factory=Figure)
    accuracy: Figure = field(default_factory=Figure)
    sqnr: Figure = field(default_factory=Figure)
    agreement: Figure = field(default_factory=Figure)
    lowered: str = ""
    target: str = ""
    differs: tuple[str, ...] = ()
    executed: Mapping[str, str] = field(default_factory=dict)


def compare_all(
    rows: Sequence[CandidateRow],
    baseline: CandidateRow | None,
    desk: Mapping[str, Any],
    pairs: Mapping[str, Mapping[str, Any]],
) -> tuple[Entry, ...]:
    """The baseline first, then the candidates, those measured under other conditions last.

    Args:
        rows: the candidates to show, newest first.
        baseline: what they are held against; None: the original.
        desk: conditions on the desk (as `facts_of` tells them), which the original is held against.
        pairs: candidate id -> `compare` document against the baseline, where that was measured.
    """
    like = desk if baseline is None else facts_of(baseline.report)
    entries = [
        _entry(row, baseline, like, pairs.get(row.id)) for row in rows if baseline is None or row.id != baseline.id
    ]
    entries.sort(key=lambda entry: bool(entry.differs))
    if baseline is None:
        return (_original(rows, None, like), *entries)
    return (_entry(baseline, baseline, like, None), _original(rows, baseline, like), *entries)


def facts_of(report: Mapping[str, Any]) -> dict[str, Any]:
    """Under what a report was measured, as far as figures depend on it."""
    measured = (report.get("comparison") or {}).get("conditions") or report.get("conditions") or {}
    data = report.get("data") or {}
    return {
        "machine": measured.get("machine"),
        "cpu": measured.get("cpu"),
        "onnxruntime": measured.get("onnxruntime"),
        "threads": measured.get("threads"),
        "batch": measured.get("batch"),
        "data": data.get("sha256"),
        "data_name": data.get("name"),
    }


def differences(like: Mapping[str, Any], facts: Mapping[str, Any]) -> tuple[str, ...]:
    """What was different while `facts` were measured, in words: "2 threads", "other data (eval2)"."""
    found = []
    if facts["machine"] != like["machine"]:
        found.append(f"another machine ({facts['cpu'] or 'not known'})")
    if facts["onnxruntime"] != like["onnxruntime"]:
        found.append(f"onnxruntime {facts['onnxruntime']}")
    if facts["threads"] != like["threads"]:
        found.append(quantities.counted(facts["threads"], "thread"))
    if facts["batch"] != like["batch"]:
        found.append(f"batch {facts['batch']}")
    if facts["data"] != like["data"]:
        name = "synthetic inputs" if facts["data"] is None else f"other data ({facts['data_name']})"
        found.append(name)
    return tuple(found)


def layers_that_differ(entries: Sequence[Entry]) -> tuple[str, ...]:
    """Ids of layers that do not run in the same precision in all of these; one of which it is not known differs."""
    layers = dict.fromkeys(layer for entry in entries for layer in entry.executed)
    return tuple(layer for layer in layers if len({entry.executed.get(layer) for entry in entries}) > 1)


def _entry(
    row: CandidateRow, baseline: CandidateRow | None, like: Mapping[str, Any], pair: Mapping[str, Any] | None
) -> Entry:
    report, found = row.report, row.report.get("comparison") or {}
    differs = differences(like, facts_of(report)) if found else ()
    layers = report.get("layers") or ()
    target = report.get("target") or found.get("gate") or {}
    against = baseline if baseline is not None and baseline.id != row.id else None
    mine = baseline is not None and baseline.id == row.id
    before = (against.report.get("comparison") or {}) if against is not None else found
    apart = bool(differs) and against is not None
    return Entry(
        id=row.id,
        name=row.name or row.id,
        built=conditions.moment(row.created_at.isoformat()),
        is_baseline=mine,
        speed=Figure(1.0, word="baseline") if mine else _speed(report, against, pair, apart=apart),
        latency=latency(found).figure if found else "not measured",
        size=_bytes("size", found, before, against, SIZE_TOLERANCE, mine=mine),
        memory=_bytes("memory", found, before, against, MEMORY_TOLERANCE, mine=mine or apart),
        accuracy=_accuracy(report, against, pair, silent=mine or apart),
        sqnr=_fidelity(report, against, "sqnr_db", silent=mine or apart),
        agreement=_fidelity(report, against, "agreement", silent=mine or apart),
        lowered=lowered_line(layers) if layers else "",
        target="" if not target.get("text") else f"{target['text']}: {'met' if target.get('met') else 'not met'}",
        differs=differs,
        executed={layer["id"]: layer["executed"] for layer in layers},
    )


def _original(rows: Sequence[CandidateRow], baseline: CandidateRow | None, like: Mapping[str, Any]) -> Entry:
    """The original, by the newest candidate that was measured under these conditions.

    Held against a pinned candidate, its figures are those that were measured beside it, the other way round.
    """
    known = [row for row in rows if row.report.get("comparison") and not differences(like, facts_of(row.report))]
    if baseline is not None:
        known = [baseline]
    found = (known[0].report.get("comparison") if known else None) or {}
    layers = rows[0].report.get("layers") or () if rows else ()
    return Entry(
        id=None,
        name=ORIGINAL,
        is_baseline=baseline is None,
        speed=Figure(1.0, word="baseline") if baseline is None else _turned(latency(found).ratio, latency(found).ci95),
        size=_original_bytes("size", found, SIZE_TOLERANCE, pinned=baseline is not None),
        memory=_original_bytes("memory", found, MEMORY_TOLERANCE, pinned=baseline is not None),
        accuracy=_original_accuracy(found, pinned=baseline is not None),
        lowered=f"0 of {len(layers)} lowered" if layers else "",
        executed={layer["id"]: "fp32" for layer in layers},
    )


def _speed(
    report: Mapping[str, Any], against: CandidateRow | None, pair: Mapping[str, Any] | None, *, apart: bool
) -> Figure:
    measured = pair if pair is not None else report.get("comparison") if against is None else None
    if measured:
        tile = latency(measured)
        word: Word = "unchanged" if against is None and report.get("unchanged") else tile.verdict or ""
        return Figure(tile.ratio, _interval(tile.ci95), word)
    if against is None or apart:
        return Figure(word="not measured")
    ours, theirs = latency(report.get("comparison") or {}).ratio, latency(against.report.get("comparison") or {}).ratio
    return Figure(ours / theirs, word="derived") if ours and theirs else Figure(word="not measured")


def _turned(ratio: float | None, ci95: tuple[float, float] | None) -> Figure:
    """The original against a candidate: the measured pair the other way round."""
    if not ratio or ci95 is None:
        return Figure(word="not measured")
    low, high = 1 / ci95[1], 1 / ci95[0]
    word: Word = "better" if low > 1 else "worse" if high < 1 else "no difference seen"
    return Figure(1 / ratio, _interval((low, high)), word)


def _bytes(
    key: str,
    found: Mapping[str, Any],
    before: Mapping[str, Any],
    against: CandidateRow | None,
    tolerance: float,
    *,
    mine: bool,
) -> Figure:
    """Bytes; the change says how many times smaller than the baseline."""
    after = (found.get(key) or {}).get("after_bytes")
    base = (before.get(key) or {}).get("before_bytes" if against is None else "after_bytes")
    return Figure(after) if mine else _smaller(after, base, tolerance)


def _original_bytes(key: str, found: Mapping[str, Any], tolerance: float, *, pinned: bool) -> Figure:
    """Bytes of the original; against a pinned candidate how many times smaller it is than that one."""
    bytes_of = found.get(key) or {}
    before = bytes_of.get("before_bytes")
    return _smaller(before, bytes_of.get("after_bytes"), tolerance) if pinned else Figure(before)


def _smaller(own: float | None, base: float | None, tolerance: float) -> Figure:
    if not own or not base:
        return Figure(own)
    ratio = base / own
    return Figure(own, quantities.ratio(ratio), _by(ratio - 1, tolerance))


def _accuracy(
    report: Mapping[str, Any], against: CandidateRow | None, pair: Mapping[str, Any] | None, *, silent: bool
) -> Figure:
    found = (report.get("comparison") or {}).get("accuracy") or {}
    after = found.get("after")
    if after is None or silent:
        return Figure(after)
    if against is None or pair is not None:
        tile = accuracy(pair if pair is not None else report["comparison"])
        return Figure(after, tile.change, tile.verdict or "")
    theirs = ((against.report.get("comparison") or {}).get("accuracy") or {}).get("after")
    return Figure(after) if theirs is None else Figure(after, quantities.points(after - theirs), "derived")


def _original_accuracy(found: Mapping[str, Any], *, pinned: bool) -> Figure:
    """The original's accuracy; against a pinned candidate the change that was measured, the other way round."""
    judged = found.get("accuracy") or {}
    before, after, interval = judged.get("before"), judged.get("after"), judged.get("ci95_change")
    if not pinned or before is None or after is None:
        return Figure(before)
    turned = {**judged, "before": after, "after": before}
    turned["ci95_change"] = None if not interval else (-interval[1], -interval[0])
    tile = accuracy({"accuracy": turned})
    return Figure(before, tile.change, tile.verdict or "")


def _fidelity(report: Mapping[str, Any], against: CandidateRow | None, key: str, *, silent: bool) -> Figure:
    """How near to the original; against another candidate also how much nearer than that one."""
    value = (report.get("fidelity") or {}).get(key)
    if value is None or silent or against is None:
        return Figure(value)
    theirs = (against.report.get("fidelity") or {}).get(key)
    if theirs is None:
        return Figure(value)
    if key == "agreement":
        return Figure(value, quantities.points(value - theirs), _by(value - theirs, 0.0))
    if max(value, theirs) >= IDENTICAL_DB:  # identical outputs have no number of decibels
        told = "identical" if value >= IDENTICAL_DB else "not identical"
        return Figure(value, told, _by(value - theirs, _SAME_DB))
    change = f"{value - theirs:+.1f} dB"
    return Figure(value, change, _by(value - theirs, _SAME_DB))


def _by(change: float, tolerance: float) -> Word:
    return "better" if change > tolerance else "worse" if change < -tolerance else "no difference seen"


def _interval(ci95: tuple[float, float] | None) -> str:
    return "" if ci95 is None else f"[{quantities.three(ci95[0])}, {quantities.three(ci95[1])}]"
