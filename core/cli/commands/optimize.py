"""`mixdesk optimize`: the fastest mix that keeps the target; never slower than the original."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from core.cli import options, work
from core.cli.extras import Extras
from core.cli.files import check_out, find_data, find_model, subject_params, write_out
from core.cli.request import Request, read_pins, read_request
from core.cli.results import give_result

MixedOption = Annotated[
    str,
    typer.Option(
        "--precision", metavar="P", help="'mixed': chosen layer by layer; or one for everything, where that is faster."
    ),
]
ObjectiveOption = Annotated[str, typer.Option("--objective", metavar="GOAL", help="What to gain: latency.")]
CacheOption = Annotated[
    str,
    typer.Option("--cache", metavar="STRATEGY", help="'none', or 'auto': allows caches (this version builds none)."),
]
DynamicOption = Annotated[
    bool,
    typer.Option("--dynamic-graph", help="Allow early exits and the like (this version builds none, and says so)."),
]


def optimize(
    model: options.ModelArgument,
    *,
    out: options.OutOption = None,
    with_data: options.WithDataOption = True,
    with_original: options.WithOriginalOption = True,
    page: options.ReportOption = None,
    csv: options.CsvOption = None,
    precision: MixedOption = "mixed",
    pin: options.PinOption = None,
    objective: ObjectiveOption = "latency",
    cache: CacheOption = "none",
    dynamic_graph: DynamicOption = False,
    data: options.DataOption = None,
    preprocessing: options.PreprocessingOption = None,
    tokenizer: options.TokenizerOption = None,
    limit: options.LimitOption = None,
    shape: options.ShapeOption = None,
    threads: options.ThreadsOption = 1,
    batch: options.BatchOption = 1,
    seed: options.SeedOption = 0,
    time_budget: options.BudgetOption = None,
    target: options.TargetOption = None,
    output: options.OutputsOption = None,
    fresh: options.FreshOption = False,
    workspace: options.WorkspaceOption = None,
    as_json: options.JsonOption = False,
) -> int:
    """Find the fastest mix of precisions that keeps the target."""
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
    asked = {
        "pins": read_pins(pin),
        "precision": _precision(precision),
        "objective": objective,
        "cache": cache,
        "dynamic_graph": dynamic_graph,
        "fresh": fresh,
    }
    _check_permissions(asked)
    document = _optimize(model, request, out, asked, Extras(page, csv, with_data, with_original))
    return give_result("optimize", document, as_json=request.as_json)


def _optimize(
    model: str, request: Request, out: Path | None, asked: Mapping[str, Any], extras: Extras
) -> dict[str, Any]:
    """Runs the job and writes the files; the document says which."""
    source = find_model(model)
    data = find_data(request.data, source)
    check_out(out, source.path, data)
    extras.check(out, source.path, data)
    store = work.open_workspace(request.workspace)
    params = {
        **subject_params(store, source, data, request),
        **request.params(),
        **asked,
        "target": request.target,
    }
    if request.time_budget_s is not None:
        params["time_budget_s"] = request.time_budget_s
    document = work.run_job(store, "optimize", params, title=f"Optimize {source.name}")
    written = write_out(store, document, out, data=extras.data, original=extras.original)
    extras.write(written)
    return written


def _check_permissions(asked: Mapping[str, Any]) -> None:
    """What this version does not build is refused before any work begins."""
    from core.tasks.permissions import check_objective, session_part

    check_objective(asked)
    session_part(asked)


def _precision(precision: str) -> str:
    """One that is known, else an error before any work begins."""
    if precision != "mixed":
        from core.recipe.recipe import read_precision

        read_precision(precision)
    return precision
