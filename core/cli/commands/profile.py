"""`mixdesk profile`: where the time goes, layer by layer."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from core.cli import answer, options, work
from core.cli.extras import Extras
from core.cli.files import find_data, find_model, subject_params
from core.cli.request import read_named_shapes, read_request, tell_unused

RunsOption = Annotated[
    int | None,
    typer.Option("--runs", metavar="N", min=1, help="Runs to measure. Default: as many as the model's speed allows."),
]

AtOption = Annotated[
    list[str] | None,
    typer.Option(
        "--at", metavar="NAME=INPUT:1x64", help="Also measure how each layer's cost grows, at this shape. Repeatable."
    ),
]


def profile(
    model: options.ModelArgument,
    *,
    data: options.DataOption = None,
    preprocessing: options.PreprocessingOption = None,
    tokenizer: options.TokenizerOption = None,
    limit: options.LimitOption = None,
    shape: options.ShapeOption = None,
    threads: options.ThreadsOption = 1,
    batch: options.BatchOption = 1,
    seed: options.SeedOption = 0,
    runs: RunsOption = None,
    at: AtOption = None,
    time_budget: options.BudgetOption = None,
    target: options.TargetOption = None,
    output: options.OutputsOption = None,
    csv: options.CsvOption = None,
    trace: options.TraceOption = None,
    netron: options.NetronOption = None,
    model_explorer: options.ModelExplorerOption = None,
    workspace: options.WorkspaceOption = None,
    as_json: options.JsonOption = False,
) -> int:
    """Measure where the time goes, layer by layer."""
    request = read_request(
        data=data,
        preprocessing=preprocessing,
        tokenizer=tokenizer,
        limit=limit,
        shape=shape,
        threads=threads,
        batch=batch,
        seed=seed,
        time_budget=time_budget,
        target=target,
        output=output,
        workspace=workspace,
        as_json=as_json,
    )
    tell_unused("profile", {"--target": target is not None, "--output": bool(output)})
    named_shapes = read_named_shapes(at)
    source = find_model(model)
    data_path = find_data(request.data, source)
    extras = Extras(csv=csv, trace=trace, netron=netron, model_explorer=model_explorer)
    extras.check(None, source.path, data_path)
    store = work.open_workspace(request.workspace)
    subject = {**subject_params(store, source, data_path, request), **request.params()}
    asked = {"runs": runs, "time_budget_s": request.time_budget_s, "named_shapes": named_shapes}
    document = work.run_job(store, "profile", subject | asked, title=f"Profile {source.name}")
    inspect = partial(work.run_job, store, "inspect", subject, title=f"Inspect {source.name}")
    extras.write_profile(document, name=source.name, inspect=inspect)
    from core.cli.reports.profile import report

    answer.give(document, report, as_json=request.as_json)
    return 0
