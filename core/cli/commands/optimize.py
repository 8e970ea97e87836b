"""`mixdesk optimize`: the fastest mix that keeps the target; never slower than the original."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from core.cli import answer, not_yet, options, work
from core.cli.files import check_out, find_data, find_model, subject_params, write_out
from core.cli.request import Request, read_pins, read_request

MixedOption = Annotated[
    str, typer.Option("--precision", metavar="P", help="'mixed': chosen layer by layer among fp32 and int8.")
]
ObjectiveOption = Annotated[str, typer.Option("--objective", metavar="GOAL", help="What to gain: latency.")]
CacheOption = Annotated[str, typer.Option("--cache", hidden=True, help="Not in this version yet, except none.")]
DynamicOption = Annotated[bool, typer.Option("--dynamic-graph", hidden=True, help="Not in this version yet.")]


def optimize(
    model: options.ModelArgument,
    *,
    out: options.OutOption = None,
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
    workspace: options.WorkspaceOption = None,
    as_json: options.JsonOption = False,
) -> int:
    """Find the fastest mix of precisions that keeps the target."""
    not_yet.check_objective(objective)
    not_yet.check_cache(cache)
    not_yet.check_dynamic(dynamic_graph)
    _check_precision(precision)
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
    document = _optimize(model, request, out, read_pins(pin))
    from core.cli.reports.optimize import report

    answer.give(document, report, as_json=request.as_json)
    judged = document.get("target")
    return 1 if judged and judged.get("met") is False else 0


def _optimize(model: str, request: Request, out: Path | None, pins: dict[str, str]) -> dict[str, Any]:
    """Runs the job and writes the file; the document says which."""
    source = find_model(model)
    data = find_data(request.data, source)
    check_out(out, source.path, data)
    store = work.open_workspace(request.workspace)
    params = {
        **subject_params(store, source, data, request),
        **request.params(),
        "target": request.target,
        "pins": pins,
    }
    if request.time_budget_s is not None:
        params["time_budget_s"] = request.time_budget_s
    document = work.run_job(store, "optimize", params, title=f"Optimize {source.name}")
    return write_out(store, document, out)


def _check_precision(precision: str) -> None:
    if precision == "mixed":
        return
    from core.recipe.recipe import read_precision

    read_precision(precision)
    instead = f"'mixdesk build --precision {precision}' builds and measures the whole model in {precision}."
    not_yet.refuse(f"optimize --precision {precision}", instead=instead)
