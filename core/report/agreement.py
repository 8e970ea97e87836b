"""Agreement: the figures of a report against the same figures measured again, each with its tolerance.

    fidelity   SQNR equal within 1 dB, or the target still met
    accuracy   equal within 0.5 points, before and after
    speed-up   the two 95 % intervals overlap
    size       equal to the byte
    report     says one thing wherever it says it twice

These decide; the speed-up does so only where the machine was calm enough to time, then and now. Memory, agreement of
answers and what the runtime executes per layer are told, since they may differ between machines and versions although
nothing is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.report import quantities

SQNR_TOLERANCE_DB = 1.0
SHARE_TOLERANCE = 0.005
MEMORY_TOLERANCE = 0.25
_REPORT = "report."

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure then and now.

    `agrees` is None where nothing can be said: it was not measured then, or not now. `decides`: whether the bundle
    agrees only if this figure does.
    """

    name: str
    stored: Any
    measured: Any
    tolerance: str
    agrees: bool | None
    decides: bool
    why: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """A row of the `verify` document."""
        return {
            "figure": self.name,
            "stored": self.stored,
            "measured": self.measured,
            "tolerance": self.tolerance,
            "agrees": self.agrees,
            "decides": self.decides,
            "why": self.why,
        }


def figures(
    stored: Document,
    measured: Document,
    *,
    target_met: bool | None,
    executed: Sequence[Document],
    checked: int,
    same_original: bool,
    unjudged: str | None = None,
) -> tuple[Figure, ...]:
    """Every figure that can be checked again.

    Args:
        stored: the bundle's report.
        measured: a comparison made now, as the `compare` document has it.
        target_met: whether the target is met now; None where there is none.
        executed: rows {"id", "stored", "measured"} of the layers that the runtime executes otherwise now.
        checked: how many layers were looked at.
        same_original: whether the original's file is the very one of then (not with its weights put inside).
        unjudged: why the speed-up cannot be judged; None where it can.
    """
    then = stored.get("comparison") or stored
    found = [
        *_contradictions(stored),
        _speedup(then, measured, unjudged),
        _fidelity(then.get("fidelity") or {}, measured["fidelity"], target_met=target_met),
        _agreement(then.get("fidelity") or {}, measured["fidelity"]),
        *_accuracy(then.get("accuracy") or {}, measured["accuracy"]),
        *_sizes(stored, then, measured, same_original=same_original),
        *_memory(then.get("memory") or {}, measured["memory"]),
        _layers(stored.get("layers") or (), executed, checked),
    ]
    return tuple(figure for figure in found if figure is not None)


def agrees(found: Sequence[Figure]) -> bool:
    """Whether every figure that decides and could be checked agrees."""
    return all(figure.agrees is not False for figure in found if figure.decides)


def stored_speedup(report: Document) -> Document | None:
    """The speed-up that a report states, as it was measured; None where it was not."""
    then: Document = report.get("comparison") or report
    found: Document | None = then.get("latency") or then.get("speedup")
    return found if found and found.get("ratio") is not None else None


def overlap(stored: Document, measured: Document) -> bool:
    """Whether the intervals of two speed-ups have a number in common."""
    (low, high), (from_, to) = stored["ci95"], measured["ci95"]
    return bool(low <= to and from_ <= high)


def _contradictions(report: Document) -> list[Figure]:
    """Where the head of a report says another number than the comparison in it, of which it is a copy."""
    compared = report.get("comparison") or {}
    found = []
    for head, part in (("speedup", "latency"), ("size", "size"), ("fidelity", "fidelity"), ("accuracy", "accuracy")):
        if report.get(head) and compared.get(part):
            for place, one, other in _unlike(report[head], compared[part], head):
                why = "the report contradicts itself: 'then' is its head, 'now' its comparison"
                found.append(Figure(f"{_REPORT}{place}", one, other, "equal", agrees=False, decides=True, why=why))
    return found


def _unlike(one: Any, other: Any, place: str) -> Iterator[tuple[str, Any, Any]]:
    """Every place of two equally built parts at which they differ."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in dict.fromkeys((*one, *other)):
            yield from _unlike(one.get(key), other.get(key), f"{place}.{key}")
    elif one != other:
        yield place, one, other


def _speedup(then: Document, now: Document, unjudged: str | None) -> Figure:
    stored, measured = _ratio(stored_speedup(then)), _ratio(now["latency"])
    tolerance = "the 95 % intervals overlap"
    if stored is None:
        return _not_then("speedup", measured, tolerance)
    if unjudged is not None:
        return Figure("speedup", stored, measured, tolerance, None, decides=False, why=unjudged)
    assert measured is not None
    return Figure("speedup", stored, measured, tolerance, overlap(stored, measured), decides=True)


def _ratio(latency: Document | None) -> dict[str, Any] | None:
    if not latency or latency.get("ratio") is None:
        return None
    return {"ratio": latency["ratio"], "ci95": list(latency["ci95"])}


def _fidelity(then: Document, now: Document, *, target_met: bool | None) -> Figure:
    tolerance = f"{SQNR_TOLERANCE_DB:g} dB, or the target still met"
    stored, measured = then.get("sqnr_db"), now.get("sqnr_db")
    if not then:
        return _not_then("fidelity.sqnr_db", measured, tolerance)
    if stored is None and measured is None:
        return Figure("fidelity.sqnr_db", None, None, tolerance, None, decides=True, why=now.get("why"))
    near = stored is not None and measured is not None and abs(stored - measured) <= SQNR_TOLERANCE_DB
    kept = near or target_met is True
    why = "more than the tolerance apart, but the target is still met" if kept and not near else now.get("why")
    return Figure("fidelity.sqnr_db", stored, measured, tolerance, kept, decides=True, why=why)


def _agreement(then: Document, now: Document) -> Figure | None:
    """The share of equal answers decides only where there is no SQNR to decide."""
    stored, measured = then.get("agreement"), now.get("agreement")
    if stored is None and measured is None:
        return None
    return _share("fidelity.agreement", stored, measured, decides=then.get("sqnr_db") is None)


def _accuracy(then: Document, now: Document) -> list[Figure]:
    if then.get("before") is None and now.get("before") is None:
        return []
    return [_share(f"accuracy.{when}", then.get(when), now.get(when), decides=True) for when in ("before", "after")]


def _share(name: str, stored: float | None, measured: float | None, *, decides: bool) -> Figure:
    tolerance = f"{100 * SHARE_TOLERANCE:g} points"
    if stored is None or measured is None:
        why = "it was not measured then" if stored is None else "it cannot be measured with this data"
        return Figure(name, stored, measured, tolerance, None, decides=decides, why=why)
    near = abs(stored - measured) <= SHARE_TOLERANCE + 1e-9
    return Figure(name, stored, measured, tolerance, near, decides=decides)


def _sizes(stored: Document, then: Document, now: Document, *, same_original: bool) -> list[Figure]:
    of_then = then.get("size") or {"before_bytes": None, "after_bytes": stored.get("bytes")}
    found = []
    for when, counts in (("before", same_original), ("after", True)):
        was, is_now = of_then.get(f"{when}_bytes"), now["size"][f"{when}_bytes"]
        if was is not None and counts:
            found.append(Figure(f"size.{when}_bytes", was, is_now, "equal", was == is_now, decides=True))
    return found


def _memory(then: Document, now: Document) -> list[Figure]:
    tolerance = f"{100 * MEMORY_TOLERANCE:g} %, does not decide"
    found = []
    for name in ("before_bytes", "after_bytes"):
        was, is_now = then.get(name), now.get(name)
        if was and is_now:
            near = abs(is_now - was) <= MEMORY_TOLERANCE * was
            found.append(Figure(f"memory.{name}", was, is_now, tolerance, near, decides=False))
    return found


def _layers(rows: Sequence[Document], executed: Sequence[Document], checked: int) -> Figure:
    """How many layers run in the precision that the report says."""
    right = checked - len(executed)
    shown = ", ".join(f"{row['id']} ({row['stored']} then, {row['measured']} now)" for row in executed[:3])
    more = f" and {len(executed) - 3} more" if len(executed) > 3 else ""
    why = f"{shown}{more}" if executed else None
    return Figure(
        "layers.executed", len(rows), right, "equal, does not decide", right == len(rows), decides=False, why=why
    )


def _not_then(name: str, measured: Any, tolerance: str) -> Figure:
    return Figure(name, None, measured, tolerance, None, decides=True, why="it was not measured then")


def verdict_sentence(
    *,
    hashes_ok: bool,
    found: Sequence[Figure],
    agreed: bool,
    target_met: bool | None,
    unjudged: str | None = None,
    target_whole: bool = True,
) -> str:
    """The answer in one sentence, or two where the speed-up could not be judged.

    `target_whole`: whether every condition of the target could be judged.
    """
    limit = "" if unjudged is None else f" The speed-up could not be judged: {unjudged}."
    return _answer(hashes_ok, found, agreed, target_met, target_whole) + limit


def _answer(hashes_ok: bool, found: Sequence[Figure], agreed: bool, target_met: bool | None, target_whole: bool) -> str:
    if not hashes_ok:
        return "The bundle is not as it was written, so nothing in it was measured."
    if not agreed:
        named = [_told(figure) for figure in found if figure.decides and figure.agrees is False]
        return f"Measured again, it does not agree with its report: {'; '.join(named)}."
    if target_met is False:
        return "Measured again, it agrees with its report, but the target is not met."
    checked = sum(1 for figure in found if figure.agrees is not None)
    met = "the target is met" if target_whole else "what could be judged of the target is met"
    target = "" if target_met is None else f", and {met}"
    return f"Measured again, it agrees with its report ({checked} figures checked){target}."


def _told(figure: Figure) -> str:
    if figure.name == "speedup":
        then, now = (
            f"{quantities.ratio(value['ratio'])} [{quantities.ratio_range(value['ci95'])}]"
            for value in (figure.stored, figure.measured)
        )
        return f"speed-up {then} then, {now} now"
    one, other = _number(figure.stored), _number(figure.measured)
    if figure.name.startswith(_REPORT):
        return f"the report contradicts itself in {figure.name.removeprefix(_REPORT)}: {one} and {other}"
    return f"{figure.name} {one} then, {other} now"


def _number(value: Any) -> str:
    return quantities.three(value) if isinstance(value, float) else str(value)
