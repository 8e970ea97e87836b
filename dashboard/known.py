"""What a running job already knows, told in one line from the pieces it published."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from core.report import quantities
from core.store.rows import Partial

Values = Sequence[Mapping[str, Any]]


def known_so_far(pieces: Sequence[Partial]) -> str:
    """One line of the newest kind of piece; empty where nothing is known yet."""
    if not pieces:
        return ""
    kind = pieces[-1].kind
    values = [piece.value for piece in pieces if piece.kind == kind]
    return _TOLD.get(kind, _counted)(values)


def _solo(values: Values) -> str:
    scored = [value for value in values if value.get("sqnr_db") is not None]
    tried = f"{len(values)} {'group' if len(values) == 1 else 'groups'} lowered one at a time"
    if not scored:
        return tried
    worst = min(scored, key=lambda value: float(value["sqnr_db"]))
    return f"{tried}; most sensitive: {worst['group']} ({quantities.with_unit(worst['sqnr_db'], 'dB')})"


def _mix(values: Values) -> str:
    tried = f"{len(values)} {'mix' if len(values) == 1 else 'mixes'} tried"
    good = [value for value in values if value.get("accepted")]
    if not good:
        return f"{tried}; none keeps the target yet"
    best = max(good, key=lambda value: (int(value.get("groups") or 0), -float(value.get("latency_ms") or 0.0)))
    words = [f"{best['groups']} groups in int8", quantities.with_unit(best.get("sqnr_db"), "dB")]
    if best.get("latency_ms") is not None:
        words.append(quantities.time_ms(best["latency_ms"]))
    return f"{tried}; best that keeps the target: {', '.join(words)}"


def _profile(values: Values) -> str:
    """Each piece holds more keys of one document."""
    known = {key: value for piece in values for key, value in piece.items()}
    told = [quantities.counted(len(known["layers"]), "layer")] if "layers" in known else []
    wall = known.get("wall_ms") or {}
    if wall.get("median") is not None:
        runs = quantities.counted(int(known.get("runs") or 0), "run")
        told.append(f"latency {quantities.time_ms(wall['median'])}, median of {runs} so far")
    elif (known.get("cold") or {}).get("first_run_ms") is not None:
        told.append(f"first run {quantities.time_ms(known['cold']['first_run_ms'])}")
    peak = (known.get("memory") or {}).get("process_peak_bytes")
    return "; ".join([*told, f"memory {quantities.size(peak)}"] if peak else told)


def _counted(values: Values) -> str:
    return f"{len(values)} {'result' if len(values) == 1 else 'results'}"


_TOLD: Mapping[str, Callable[[Values], str]] = {"solo": _solo, "mix": _mix, "profile": _profile}
