"""Run rows: every job and candidate as one line - what it worked on, how it stands, and what came of it in figures."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.report import quantities
from core.store.parts import CandidateBrief
from core.store.rows import JobRow, JobState, now
from dashboard import conditions

Parts = Mapping[str, Any]

#: What a row shows of a result document: name -> where it is. Builds and searches have the comparison inside.
OUTCOME_PATHS: Mapping[str, tuple[str, ...]] = {
    "speedup": ("speedup",),
    "ratio": ("comparison", "ratio", "latency"),
    "own_ratio": ("ratio", "latency"),
    "fidelity": ("fidelity",),
    "accuracy": ("accuracy",),
    "verdict": ("comparison", "verdict"),
    "own_verdict": ("verdict",),
    "unchanged": ("unchanged",),
    "why": ("why",),
    "target": ("target",),
    "gate": ("comparison", "gate"),
    "own_gate": ("gate",),
    "wall_ms": ("wall_ms",),
    "agrees": ("agrees",),
    "candidate": ("candidate",),
    "units": ("units",),
    "measured": ("comparison", "conditions", "time"),
    "findings": ("findings",),
    "missing": ("missing",),
}

_SHOWN = 3
#: What people call a kind of job, where its name is not the word for it.
_OPENING = "bring"
_WORDS = {_OPENING: "open"}
#: The state of a candidate whose job was forgotten.
BUILT = "built"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it; `verdict` is one word, `note` says the rest: why nothing was gained, or what went wrong.

    `obstacle` is what is in the way of what was looked at ("cannot run"), though the looking itself is done.
    """

    ratio: float | None = None
    ci95: tuple[float, float] | None = None
    sqnr_db: float | None = None
    accuracy_change: float | None = None
    verdict: str = ""
    note: str = ""
    obstacle: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One line: a job with the candidate it built, or a candidate whose job was forgotten; `id` is that of either.

    `kind` is a word for people: what looks at files is called "open".
    """

    id: str
    job: JobRow | None
    candidate: CandidateBrief | None
    kind: str
    title: str
    model: str
    model_sha256: str | None
    data: str
    data_sha256: str | None
    state: str
    when: datetime
    seconds: float | None
    outcome: Outcome

    @property
    def is_active(self) -> bool:
        """Whether it still runs or waits."""
        return self.job is not None and not self.job.is_final


def run_rows(
    jobs: Sequence[JobRow],
    candidates: Sequence[CandidateBrief],
    job_parts: Mapping[str, Parts],
    candidate_parts: Mapping[str, Parts],
    *,
    models: Mapping[str, str],
    data: Mapping[str, str],
) -> tuple[RunRow, ...]:
    """All runs, newest first.

    Args:
        jobs: the jobs.
        candidates: the candidates; one whose job is among the jobs shares its line.
        job_parts: job id -> the `OUTCOME_PATHS` of its result.
        candidate_parts: candidate id -> the same of its report, of those without a job.
        models: hash -> name.
        data: hash -> name.
    """
    by_job: dict[str, list[CandidateBrief]] = {}
    for candidate in candidates:
        by_job.setdefault(candidate.job_id or "", []).append(candidate)
    rows = []
    for job in jobs:
        built = by_job.pop(job.id, [])
        rows.append(_of_job(job, built[0] if built else None, job_parts.get(job.id) or {}, models, data))
        rows += [_of_candidate(other, candidate_parts.get(other.id) or {}, models, data) for other in built[1:]]
    for alone in by_job.values():
        rows += [_of_candidate(other, candidate_parts.get(other.id) or {}, models, data) for other in alone]
    return tuple(sorted(rows, key=lambda row: row.when, reverse=True))


def chosen(
    rows: Sequence[RunRow],
    *,
    text: str = "",
    model: str | None = None,
    kinds: Collection[str] = (),
    states: Collection[str] = (),
) -> tuple[RunRow, ...]:
    """Those that have every word of `text` somewhere, are of this model (hash), of these kinds and in these states."""
    words = text.casefold().split()
    return tuple(
        row
        for row in rows
        if (model is None or row.model_sha256 == model)
        and (not kinds or row.kind in kinds)
        and (not states or row.state in states)
        and all(word in _searchable(row) for word in words)
    )


def outcome_of(parts: Parts, *, row: JobRow | None = None, at: datetime | None = None) -> Outcome:
    """What came of a run, by the parts of its document and, where it did not end well, by its row."""
    if row is not None and row.state is not JobState.DONE:
        return Outcome(note=_progress(row) if not row.is_final else _message(row))
    latency = parts.get("ratio") or parts.get("own_ratio") or {}
    speedup = parts.get("speedup") or {}
    interval = speedup.get("ci95") or latency.get("ci95")
    accuracy = parts.get("accuracy") or {}
    verdict = _verdict(parts)
    obstacle, sentence = _obstacle(parts)
    reused = conditions.reused(parts.get("measured"), None if row is None else row.started_at)
    return Outcome(
        ratio=speedup.get("ratio", latency.get("value")),
        ci95=None if not interval else (interval[0], interval[1]),
        sqnr_db=(parts.get("fidelity") or {}).get("sqnr_db"),
        accuracy_change=_change(accuracy),
        verdict=verdict,
        note=" · ".join(filter(None, (sentence or _note(parts, verdict), reused))),
        obstacle=obstacle,
    )


def _of_job(
    job: JobRow, built: CandidateBrief | None, parts: Parts, models: Mapping[str, str], data: Mapping[str, str]
) -> RunRow:
    model, given = job.model_sha256, job.params.get("data")
    begun = job.started_at or job.created_at
    return RunRow(
        id=job.id,
        job=job,
        candidate=built,
        kind=_WORDS.get(job.kind, job.kind),
        title=job.title or job.kind,
        model=models.get(model or "") or str(job.params.get("model_name") or ""),
        model_sha256=model,
        data=""
        if job.kind == _OPENING
        else _data_name(model, given, job.params.get("data_name") or data.get(str(given))),
        data_sha256=str(given) if given else None,
        state=str(job.state),
        when=job.created_at,
        seconds=job.duration_s if job.is_final else (now() - begun).total_seconds() if job.started_at else None,
        outcome=outcome_of(parts, row=job),
    )


def _of_candidate(
    candidate: CandidateBrief, parts: Parts, models: Mapping[str, str], data: Mapping[str, str]
) -> RunRow:
    given = candidate.dataset_sha256
    return RunRow(
        id=candidate.id,
        job=None,
        candidate=candidate,
        kind="candidate",
        title=candidate.name or candidate.id,
        model=models.get(candidate.model_sha256, ""),
        model_sha256=candidate.model_sha256,
        data=_data_name(candidate.model_sha256, given, data.get(given or "")),
        data_sha256=given,
        state=BUILT,
        when=candidate.created_at,
        seconds=None,
        outcome=outcome_of(parts),
    )


def _data_name(model: str | None, sha256: Any, name: Any) -> str:
    if model is None:
        return ""
    return str(name or str(sha256)[:12]) if sha256 else "synthetic"


def _verdict(parts: Parts) -> str:
    if parts.get("agrees") is not None:
        return "agrees" if parts["agrees"] else "differs"
    if parts.get("unchanged"):
        return "unchanged"
    judged = parts.get("target") or parts.get("gate") or parts.get("own_gate") or {}
    if judged.get("met") is False:
        return "target missed"
    return str(parts.get("verdict") or parts.get("own_verdict") or "")


def _note(parts: Parts, verdict: str) -> str:
    if parts.get("wall_ms"):
        return f"{quantities.time_ms(parts['wall_ms'].get('mean'))} per run"
    judged = parts.get("target") or parts.get("gate") or parts.get("own_gate") or {}
    if verdict == "target missed":
        value = f" ({quantities.three(judged['value'])})" if judged.get("value") is not None else ""
        return f"{judged.get('text') or 'the target'} was not met{value}"
    if verdict in ("unchanged", "worse", "no difference seen", "too noisy"):
        return str(parts.get("why") or "")
    return f"{judged['text']} met" if judged.get("met") and judged.get("text") else ""


def _obstacle(parts: Parts) -> tuple[str, str]:
    """In two words and in a sentence, what keeps a model that was looked at from being used; empty: nothing does."""
    missing = [str(name) for name in parts.get("missing") or ()]
    if missing:
        shown = ", ".join(missing[:_SHOWN]) + (f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else "")
        return "files missing", f"{shown} {'is' if len(missing) == 1 else 'are'} missing: give the whole model at once."
    errors = [str(each["message"]) for each in parts.get("findings") or () if each.get("severity") == "error"]
    return ("cannot run", errors[0]) if errors else ("", "")


def _change(accuracy: Mapping[str, Any]) -> float | None:
    before, after = accuracy.get("before"), accuracy.get("after")
    return None if before is None or after is None else float(after) - float(before)


def _progress(row: JobRow) -> str:
    if row.state is JobState.QUEUED:
        return row.what or "Waiting for its turn"
    return " · ".join(part for part in (row.phase or "Starting", row.what) if part)


def _message(row: JobRow) -> str:
    return str((row.error or {}).get("message") or "")


def _searchable(row: RunRow) -> str:
    built = "" if row.candidate is None else f"{row.candidate.id} {row.candidate.name}"
    parts = (row.id, row.kind, row.title, row.model, row.data, row.state, *_told(row.outcome), built)
    return " ".join(parts).casefold()


def _told(outcome: Outcome) -> tuple[str, str, str]:
    return outcome.verdict, outcome.note, outcome.obstacle
