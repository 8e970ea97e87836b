"""Verify: a bundle's figures, each measured again in a fresh process and held against its report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.capability.saturation import saturable_layers, saturates
from core.errors import BundleError, ModelError, NotFoundError, RequestError
from core.graph.layer import LayerTable
from core.graph.read import read_layers
from core.intake.dataset import Dataset, Split, dataset_for
from core.intake.load import load_model
from core.intake.model import Model
from core.measure.compare import Comparison, compare_models, time_pair
from core.measure.latency import PairedLatency
from core.measure.target import parse_target
from core.progress import Part, Progress
from core.report.agreement import Figure, agrees, figures, verdict_sentence
from core.report.bundle import Bundle
from core.report.container import Container
from core.report.instructions import missing_here
from core.report.manifest import HOLDOUT, MODEL, ORIGINAL, Manifest
from core.runtime.attribute import read_executed
from core.runtime.machine import cpu_features, machine_id
from core.store.workspace import Workspace
from core.tasks.params import DEFAULT_BUDGET_S, Params, Subject, read_seconds, read_text
from core.tasks.prepare import refuse_unrunnable, runnable_form
from core.tasks.timed_again import TimedAgain, judged_target, timed_again
from core.transform.readback import executed_precisions


@dataclass(frozen=True, slots=True)
class _Again:
    """All that is needed to measure a bundle again."""

    bundle: Bundle
    subject: Subject
    original: Model
    original_path: Path
    candidate: Model
    dataset: Dataset
    table: LayerTable

    @property
    def same(self) -> bool:
        """Whether the bundle's model is the original itself."""
        return self.original.sha256 == self.candidate.sha256


def verify(workspace: Workspace, params: Params, progress: Progress) -> dict[str, Any]:
    """Checks the hashes of a bundle and measures its figures again: the contract's `verify` document.

    A bundle with a changed member is answered, not refused: `hashes` then names it, and nothing is measured.

    Raises:
        NotFoundError: no such file, or the bundle has no original or no samples and none were given.
        BundleError: no bundle, damaged beyond reading, of a newer format, or this runtime refuses its model.
        RequestError: the original that was given is another.
        DataError, TargetError: the samples do not fit; the target cannot be judged by them.
    """
    budget_s = read_seconds(params, "time_budget_s", default=DEFAULT_BUDGET_S)
    given = read_text(params, "target")
    if given is not None:
        parse_target(given)
    progress.phase("Check the hashes", start=0.0, end=0.1)
    with closing(Container(_file(workspace, params, "bundle"))) as container:
        changes = container.changes()
        if changes:
            return _unmeasured(container, changes)
        with Bundle(container) as bundle:
            progress.phase("Read model and data", start=0.1, end=0.2)
            again = _prepare(workspace, params, bundle)
            part = Part(progress, start=0.2, end=1.0)
            return _measure(again, given or bundle.manifest.target, budget_s, part)


def _measure(again: _Again, target: str | None, budget_s: float, progress: Progress) -> dict[str, Any]:
    first = _compare(again, budget_s, Part(progress, start=0.0, end=0.7))
    report = again.bundle.report
    if again.same:
        timed = TimedAgain(first, None, ())
    else:
        timed = timed_again(report, first, lambda: _time(again, budget_s, Part(progress, start=0.7, end=1.0)))
    comparison = timed.comparison
    judged, met = (None, None) if target is None else judged_target(parse_target(target), timed)
    rows = report.get("layers") or ()
    executed, checked = _executed_otherwise(again, rows)
    measured = comparison.to_dict()
    found = figures(
        report,
        measured,
        target_met=met,
        executed=executed,
        checked=checked,
        same_original=not again.bundle.manifest.original_inlined,
        unjudged=timed.unjudged,
    )
    whole = judged is None or all(row["met"] is not None for row in judged["each"])
    return {
        **_frame(again.bundle.path, again.bundle.manifest, "ok"),
        "target": judged,
        "speedup": measured["latency"],
        **{name: measured[name] for name in ("size", "memory", "fidelity", "accuracy", "noise")},
        "layers": {"checked": checked, "differ": executed},
        **_verdict("ok", found, met, unjudged=timed.unjudged, target_whole=whole),
        "machine": _machine(again),
        "notes": [*timed.notes, *_notes(again, comparison)],
        "data": {
            "name": again.dataset.name,
            "samples": len(again.dataset.indices_or_all(Split.HOLDOUT)),
            "synthetic": _synthetic(again),
        },
        "conditions": measured["conditions"],
    }


def _unmeasured(container: Container, changes: Iterable[str]) -> dict[str, Any]:
    """The document of a bundle that is not as it was written."""
    hashes = " ".join(changes)
    nothing = ("target", "speedup", "size", "memory", "fidelity", "accuracy", "noise", "layers", "machine", "data")
    return {
        **_frame(container.path, container.manifest, hashes),
        **dict.fromkeys(nothing),
        **_verdict(hashes, (), None),
        "notes": [],
    }


def _frame(path: Path, manifest: Manifest, hashes: str) -> dict[str, Any]:
    return {
        "bundle": str(path),
        "name": manifest.name,
        "model": manifest.model_name,
        "format": manifest.format,
        "written_by": manifest.mixdesk,
        "hashes": hashes,
        "stored_conditions": dict(manifest.conditions),
    }


def _verdict(
    hashes: str,
    found: tuple[Figure, ...],
    target_met: bool | None,
    *,
    unjudged: str | None = None,
    target_whole: bool = True,
) -> dict[str, Any]:
    whole = hashes == "ok"
    agreed = whole and agrees(found)
    rows = [figure.to_dict() for figure in found]
    return {
        "agrees": agreed,
        "why": verdict_sentence(
            hashes_ok=whole,
            found=found,
            agreed=agreed,
            target_met=target_met,
            unjudged=unjudged,
            target_whole=target_whole,
        ),
        "differences": [row for row in rows if row["agrees"] is False],
        "figures": rows,
    }


def _prepare(workspace: Workspace, params: Params, bundle: Bundle) -> _Again:
    """Model, original, samples and settings: the bundle's own unless others were given."""
    original, path = _original(workspace, params, bundle)
    candidate = bundle.load_model()
    subject = _subject(params, bundle.manifest)
    refuse_unrunnable(original, subject.settings)
    try:
        refuse_unrunnable(candidate, subject.settings)
    except ModelError as error:
        raise bundle.refused(error) from error
    dataset = _samples(workspace, params, bundle, original, subject.seed)
    return _Again(
        bundle=bundle,
        subject=subject,
        original=original,
        original_path=path,
        candidate=candidate,
        dataset=dataset,
        table=read_layers(original, shapes=dataset.shapes()),
    )


def _subject(params: Params, manifest: Manifest) -> Subject:
    """How it is run: as it was measured, but for what the request says."""
    asked = {name: params.get(name) for name in ("threads", "batch", "seed", "outputs")}
    stored = {name: manifest.conditions.get(name) for name in ("threads", "batch", "seed")}
    chosen = {name: stored.get(name) if value is None else value for name, value in asked.items()}
    return Subject.read({**chosen, "outputs": asked["outputs"] or manifest.outputs, "model": manifest.model_sha256})


def _original(workspace: Workspace, params: Params, bundle: Bundle) -> tuple[Model, Path]:
    manifest = bundle.manifest
    if params.get("original"):
        path = _file(workspace, params, "original")
        model = load_model(path, name=manifest.model_name)
        if model.sha256 != manifest.model_sha256:
            message = f"'{path.name}' is not the original of this bundle: its hash is another."
            raise RequestError(message, hint=f"The bundle was made from '{manifest.model_name}'.")
        return model, path
    member = manifest.member(MODEL)
    unchanged = member is not None and member.sha256 == manifest.model_sha256
    kept = bundle.member_path(ORIGINAL) or (bundle.model_path if unchanged else None)
    if kept is None:
        why = manifest.why_without(ORIGINAL)
        message = f"The bundle has no original to measure against: {why}."
        raise NotFoundError(message, hint="Give it with --original FILE.")
    return load_model(kept, name=manifest.model_name), kept


def _samples(workspace: Workspace, params: Params, bundle: Bundle, model: Model, seed: int) -> Dataset:
    manifest = bundle.manifest
    if params.get("data"):
        content = _file(workspace, params, "data").read_bytes()
        return dataset_for(model, content, seed=seed, name=read_text(params, "data_name"))
    kept = bundle.member_path(HOLDOUT)
    if kept is not None:
        return replace(dataset_for(model, kept.read_bytes(), seed=seed), name=str(manifest.data.get("name") or "data"))
    if manifest.data.get("synthetic"):
        return dataset_for(model, None, shapes=manifest.shapes or None, seed=int(manifest.conditions.get("seed") or 0))
    why = manifest.why_without(HOLDOUT)
    raise NotFoundError(f"The bundle has no samples to measure on: {why}.", hint="Give the data with --data FILE.")


def _compare(again: _Again, budget_s: float, progress: Progress) -> Comparison:
    subject = again.subject
    found = compare_models(
        runnable_form(again.original_path, again.original, subject.settings),
        runnable_form(again.bundle.model_path, again.candidate, subject.settings),
        again.dataset,
        split=Split.HOLDOUT,
        settings=subject.settings,
        batch=subject.batch,
        seed=subject.seed,
        budget_s=budget_s,
        outputs=subject.weights,
        progress=progress,
    )
    return found.unchanged() if again.same else found


def _time(again: _Again, budget_s: float, progress: Progress) -> PairedLatency:
    """The pair timed once more, in fresh processes and another order."""
    subject = again.subject
    progress.phase("Time in pairs once more", start=0.0, end=1.0)
    return time_pair(
        runnable_form(again.original_path, again.original, subject.settings),
        runnable_form(again.bundle.model_path, again.candidate, subject.settings),
        again.dataset,
        split=Split.HOLDOUT,
        settings=subject.settings,
        batch=subject.batch,
        seed=subject.seed + 1,
        budget_s=budget_s,
        progress=progress,
    )


def _executed_otherwise(again: _Again, rows: Iterable[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], int]:
    """The layers that the runtime runs in another precision than the report says, and how many were looked at."""
    known = {str(row["id"]): row for row in rows if str(row["id"]) in again.table}
    produced = {layer: str(row["produced"]) for layer, row in known.items()}
    now = executed_precisions(produced, again.table, read_executed(again.candidate.ir, again.subject.settings))
    differ = [
        {"id": layer, "stored": known[layer]["executed"], "measured": precision}
        for layer, precision in now.items()
        if known[layer]["executed"] != precision
    ]
    return differ, len(now)


def _machine(again: _Again) -> dict[str, Any]:
    stored = again.bundle.manifest.conditions
    return {
        "same": stored.get("machine") == machine_id(),
        "stored": stored.get("cpu"),
        "missing": [name for name in again.bundle.manifest.rests_on if name not in cpu_features()],
    }


def _notes(again: _Again, comparison: Comparison) -> Iterable[str]:
    """What explains a difference, or weakens the answer, in sentences."""
    manifest, subject = again.bundle.manifest, again.subject
    missing = missing_here(manifest.rests_on, cpu_features())
    if missing:
        yield missing
    layers = saturable_layers(again.candidate.ir)
    if layers and saturates(subject.settings):
        yield (
            f"This CPU's product of 8-bit numbers saturates, and {len(layers)} layers of the bundle have 8-bit weights "
            f"('{layers[0]}' among them): its answers here may differ from those that were measured."
        )
    now = comparison.conditions.to_dict()
    for name, told in (("onnxruntime", "onnxruntime"), ("threads", "threads"), ("batch", "batch")):
        was = manifest.conditions.get(name)
        if was is not None and was != now[name]:
            yield f"The report was measured with {told} {was}, this answer with {told} {now[name]}."
    if _synthetic(again):
        yield "The inputs are made up: accuracy and fidelity on real data may differ."


def _synthetic(again: _Again) -> bool:
    return again.dataset.synthetic or bool(again.bundle.manifest.data.get("synthetic"))


def _file(workspace: Workspace, params: Params, name: str) -> Path:
    """A file of the workspace by its hash, or of this machine by its path."""
    given = read_text(params, name)
    if given is None:
        raise RequestError(f"The job does not say its '{name}'.")
    if workspace.files.has(given):
        return workspace.files.path(given)
    path = Path(given)
    if not path.exists():
        raise NotFoundError(f"There is no file '{given}'.", hint="Give its path again.")
    if not path.is_file() and name != "bundle":
        raise BundleError(f"'{given}' is a folder, not a file.")
    return path
