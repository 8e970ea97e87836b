"""Bundle: a kept candidate becomes one file to take away, with all that is needed to run it and to check it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx

import core
from core.errors import BundleError, NotFoundError, RequestError
from core.intake.dataset import Dataset, Split
from core.intake.model import Model
from core.progress import Progress, Silent
from core.report.bundle import BundleParts, write_bundle
from core.report.html import report_html
from core.report.instructions import rests_on
from core.report.manifest import HOLDOUT, MODEL, ORIGINAL, LeftOut, Manifest
from core.report.recipe_file import recipe_document
from core.report.summary import target_of
from core.store.rows import CandidateRow
from core.store.workspace import Workspace
from core.tasks.params import Params, Subject, read_text
from core.tasks.prepare import load, load_data

#: An original beyond this is left out.
MOST_ORIGINAL_BYTES = 200_000_000


def bundle(workspace: Workspace, params: Params, progress: Progress) -> dict[str, Any]:
    """Writes a candidate's bundle into the workspace's files: its hash, size and members.

    Raises:
        RequestError: the job names no candidate.
        NotFoundError: there is none of that id, or its files are gone.
    """
    candidate = read_text(params, "candidate")
    if candidate is None:
        raise RequestError("The job does not say its 'candidate'.")
    with tempfile.TemporaryDirectory(prefix="mixdesk-") as folder:
        out = Path(folder) / "bundle.o3"
        bundle_candidate(
            workspace,
            candidate,
            out=out,
            data=bool(params.get("data", True)),
            original=bool(params.get("original", True)),
            progress=progress,
        )
        size = out.stat().st_size
        file = workspace.files.put(out, suffix=".o3")
    row = workspace.candidate(candidate)
    return {"candidate": row.id, "file": file, "bytes": size, "name": row.name}


def bundle_candidate(
    workspace: Workspace,
    candidate_id: str,
    *,
    out: Path,
    data: bool = True,
    original: bool = True,
    progress: Progress | None = None,
) -> Path:
    """Writes a candidate's bundle to `out` in one step.

    Args:
        workspace: where it was built.
        candidate_id: its row's.
        out: the file; what was there is replaced.
        data: whether the holdout samples go along.
        original: whether the original goes along (above 200 MB it never does).
        progress: is told what is being done.

    Raises:
        NotFoundError: no such candidate, or its model or data are gone from the workspace.
        BundleError: it cannot be put into a bundle.
    """
    told = progress or Silent()
    row = workspace.candidate(candidate_id)
    told.phase("Read model and data", start=0.0, end=0.4)
    subject = _subject(row)
    model, path = load(workspace, subject)
    dataset = load_data(workspace, subject, model) if data or _is_synthetic(row) else None
    told.phase("Write the bundle", start=0.4, end=1.0)
    with tempfile.TemporaryDirectory(prefix="mixdesk-") as folder:
        samples = None if dataset is None else holdout(dataset)
        kept = None
        if data and samples is not None:
            kept = Path(folder) / HOLDOUT
            samples.to_npz(kept)
        source, why = _original(workspace, row, model, path, wanted=original)
        left_out = [] if data else [LeftOut(HOLDOUT, "it was asked for without data")]
        left_out += [] if source is not None else [LeftOut(ORIGINAL, why)]
        manifest = _manifest(row, model, samples, inlined=isinstance(source, bytes), left_out=tuple(left_out))
        parts = BundleParts(
            manifest=manifest,
            model=_model_files(workspace, row),
            recipe=_json(recipe_document({"recipe": row.recipe, "made_for": row.report.get("made_for")})),
            plan=_json(row.plan),
            report=_json(row.report),
            page=report_html(row.report, name=row.name).encode(),
            holdout=kept,
            original=source,
        )
        return _write(out, parts)


def _write(out: Path, parts: BundleParts) -> Path:
    try:
        return write_bundle(out, parts)
    except OSError as error:
        raise BundleError(f"'{out}' cannot be written: {error.strerror or error}.") from error


def _subject(row: CandidateRow) -> Subject:
    """What the candidate was built from and measured with, as its report says."""
    report = row.report
    conditions, data = report.get("conditions") or {}, report.get("data") or {}
    return Subject.read(
        {
            "model": row.model_sha256,
            "data": row.dataset_sha256,
            "data_name": data.get("name"),
            "threads": conditions.get("threads"),
            "batch": conditions.get("batch"),
            "seed": conditions.get("seed"),
            "shapes": data.get("shapes") if _is_synthetic(row) else None,
        }
    )


def _is_synthetic(row: CandidateRow) -> bool:
    return bool((row.report.get("data") or {}).get("synthetic"))


def holdout(dataset: Dataset) -> Dataset:
    """The samples by which the figures were reported, and no other."""
    indices = list(dataset.indices(Split.HOLDOUT) or range(len(dataset)))
    return replace(
        dataset,
        inputs={name: array[indices] for name, array in dataset.inputs.items()},
        labels=None if dataset.labels is None else dataset.labels[indices],
        splits=dataset.splits[indices] * 0 + int(Split.HOLDOUT),
    )


def _original(
    workspace: Workspace, row: CandidateRow, model: Model, path: Path, *, wanted: bool
) -> tuple[bytes | Path | None, str]:
    """The original as one file, or None with the reason. Weights in other files are put inside."""
    if not wanted:
        return None, "it was asked for without the original"
    size = workspace.files.stat(row.model_sha256).size_bytes
    if size > MOST_ORIGINAL_BYTES:
        most = MOST_ORIGINAL_BYTES // 10**6
        return None, f"the original has {size / 1e6:.0f} MB, and a bundle takes originals up to {most} MB"
    if len(workspace.files.members(row.model_sha256)) == 1:
        return path, ""
    return bytes(onnx.load(path).SerializeToString()), ""


def _model_files(workspace: Workspace, row: CandidateRow) -> dict[str, Path]:
    """`model.onnx` and its weight files; the main file comes first whatever its name."""
    if not workspace.files.has(row.file_sha256):
        message = f"The workspace no longer has the file of the candidate '{row.name or row.id}'."
        raise NotFoundError(message, hint="Build it again.")
    (_, main), *others = workspace.files.members(row.file_sha256).items()
    return {MODEL: main, **dict(others)}


def _manifest(
    row: CandidateRow, model: Model, samples: Dataset | None, *, inlined: bool, left_out: tuple[LeftOut, ...]
) -> Manifest:
    report: Mapping[str, Any] = row.report
    conditions = report.get("conditions") or {}
    target = target_of(report)
    outputs = (report.get("fidelity") or {}).get("outputs") or ()
    return Manifest(
        mixdesk=str(report.get("mixdesk") or core.__version__),
        name=row.name or row.id,
        created=row.created_at.isoformat(timespec="seconds"),
        model_name=model.name,
        model_sha256=model.sha256,
        model_bytes=model.size_bytes,
        original_inlined=inlined,
        conditions=conditions,
        rests_on=rests_on(conditions.get("features") or (), report.get("layers") or ()),
        data=report.get("data") or {},
        shapes={} if samples is None else samples.shapes(),
        target=None if target is None else str(target["text"]),
        outputs={str(output["name"]): float(output["weight"]) for output in outputs if "weight" in output},
        left_out=left_out,
    )


def _json(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, indent=1, ensure_ascii=False).encode()
