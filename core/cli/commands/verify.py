"""`mixdesk verify BUNDLE`: every figure of a bundle measured again, and whether it agrees."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from core.cli import options, work
from core.cli.data import data_params
from core.cli.files import put_model
from core.cli.request import Request, read_request, tell_unused
from core.cli.results import give_result
from core.errors import NotFoundError

if TYPE_CHECKING:
    from core.store.workspace import Workspace

BundleArgument = Annotated[Path, typer.Argument(metavar="BUNDLE", help="An .o3 file.")]
OriginalOption = Annotated[
    Path | None,
    typer.Option("--original", metavar="FILE", help="The original, where the bundle was written without it."),
]
AsMeasured = "Default: as the bundle was measured."
ThreadsOption = Annotated[int | None, typer.Option("--threads", metavar="N", min=1, help=AsMeasured)]
BatchOption = Annotated[int | None, typer.Option("--batch", metavar="N", min=1, help=AsMeasured)]
SeedOption = Annotated[int | None, typer.Option("--seed", metavar="N", min=0, help=AsMeasured)]
TargetOption = Annotated[
    str | None, typer.Option("--target", metavar="TEXT", help="Judge this one. Default: the bundle's own.")
]


def verify(
    bundle: BundleArgument,
    *,
    original: OriginalOption = None,
    data: options.DataOption = None,
    preprocessing: options.PreprocessingOption = None,
    tokenizer: options.TokenizerOption = None,
    limit: options.LimitOption = None,
    shape: options.ShapeOption = None,
    threads: ThreadsOption = None,
    batch: BatchOption = None,
    seed: SeedOption = None,
    time_budget: options.BudgetOption = None,
    target: TargetOption = None,
    output: options.OutputsOption = None,
    workspace: options.WorkspaceOption = None,
    as_json: options.JsonOption = False,
) -> int:
    """Check a bundle's hashes, measure its figures again, and say whether they agree."""
    request = read_request(
        data=data,
        preprocessing=preprocessing,
        tokenizer=tokenizer,
        limit=limit,
        shape=shape,
        threads=threads or 1,
        batch=batch or 1,
        seed=seed or 0,
        time_budget=time_budget,
        target=target,
        output=output,
        workspace=workspace,
        as_json=as_json,
    )
    tell_unused("verify", {"--shape": bool(shape)})
    for given in (bundle, original, data):
        if given is not None and not given.exists():
            raise NotFoundError(f"There is no file '{given}'.", hint="Check its path.")
    _check(bundle)
    store = work.open_workspace(request.workspace)
    params: dict[str, Any] = {
        "bundle": str(bundle.resolve()),
        "original": None if original is None else str(original.resolve()),
        **({} if data is None else _data(store, bundle, original, data, request)),
        **{
            name: value for name, value in (("threads", threads), ("batch", batch), ("seed", seed)) if value is not None
        },
        "outputs": dict(request.outputs),
        "target": request.target,
        "time_budget_s": request.time_budget_s,
    }
    document = work.run_job(store, "verify", params, title=f"Verify {bundle.name}")
    return give_result("verify", document, as_json=request.as_json)


def _check(bundle: Path) -> None:
    """What is no bundle is refused at once, without waiting for a turn to measure."""
    from core.report.container import Container

    Container(bundle).close()


def _data(store: Workspace, bundle: Path, original: Path | None, data: Path, request: Request) -> dict[str, Any]:
    """The samples' hash and name; images, sound and texts become arrays as they did for the bundle."""
    from core.intake.members import kind_of

    if kind_of(data) == "npz":
        return data_params(store, {}, data, data, request)
    from core.report.bundle import load_bundle
    from core.report.manifest import ORIGINAL

    with load_bundle(bundle) as opened, tempfile.TemporaryDirectory(prefix="mixdesk-") as folder:
        declared = opened.manifest.data.get("preprocessing")
        if declared and request.preprocessing is None:
            path = Path(folder) / "preprocessing.json"
            path.write_text(json.dumps(declared), encoding="utf-8")
            request = replace(request, preprocessing=path)
        model = original or opened.member_path(ORIGINAL) or opened.model_path
        params = {"model": put_model(store, model), "model_name": opened.manifest.model_name}
        return data_params(store, params, model, data, request)
