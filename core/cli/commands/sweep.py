"""`mixdesk sweep`: which number of threads and which batch give the most samples per second."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from core.cli import answer, options, work
from core.cli.extras import Extras
from core.cli.files import find_data, find_model, subject_params
from core.cli.request import read_request, tell_unused
from core.cli.results import give_result
from core.errors import RequestError

SweptThreadsOption = Annotated[
    str | None,
    typer.Option("--threads", metavar="N,N...", help="Threads of the runtime. Default: 1, 2, 4 ... all processors."),
]
SweptBatchOption = Annotated[str, typer.Option("--batch", metavar="N,N...", help="Samples per run.")]
LatencyLimitOption = Annotated[
    float | None,
    typer.Option("--latency-limit", metavar="MS", help="What 95 of 100 runs must keep at the sweet spot."),
]


def sweep(
    model: options.ModelArgument,
    *,
    data: options.DataOption = None,
    preprocessing: options.PreprocessingOption = None,
    tokenizer: options.TokenizerOption = None,
    limit: options.LimitOption = None,
    shape: options.ShapeOption = None,
    threads: SweptThreadsOption = None,
    batch: SweptBatchOption = "1,2,4,8",
    latency_limit: LatencyLimitOption = None,
    seed: options.SeedOption = 0,
    time_budget: options.BudgetOption = None,
    target: options.TargetOption = None,
    output: options.OutputsOption = None,
    csv: options.CsvOption = None,
    workspace: options.WorkspaceOption = None,
    as_json: options.JsonOption = False,
) -> int:
    """Measure throughput and latency over threads and batch sizes."""
    asked = {
        "sweep_threads": None if threads is None else _numbers("--threads", threads),
        "sweep_batches": _numbers("--batch", batch),
        "limit_ms": _limit(latency_limit),
    }
    request = read_request(
        data=data,
        preprocessing=preprocessing,
        tokenizer=tokenizer,
        limit=limit,
        shape=shape,
        threads=1,
        batch=1,
        seed=seed,
        time_budget=time_budget,
        target=target,
        output=output,
        workspace=workspace,
        as_json=as_json,
    )
    unused = {"--target": target is not None, "--time-budget": time_budget is not None, "--output": bool(output)}
    tell_unused("sweep", unused)
    source = find_model(model)
    data_path = find_data(request.data, source)
    extras = Extras(csv=csv)
    extras.check(None, source.path, data_path)
    store = work.open_workspace(request.workspace)
    params = {**subject_params(store, source, data_path, request), **request.params(), **asked}
    answer.note(_how_long(store, params))
    document = work.run_job(store, "sweep", params, title=f"Sweep {source.name}")
    extras.write(document)
    return give_result("sweep", document, as_json=request.as_json)


def _how_long(store: Any, params: dict[str, Any]) -> str:
    """What is told before the work begins."""
    from core.report.quantities import duration_s
    from core.tasks.sweep import expected_s, read_cells

    cells = len(read_cells(params))
    seconds = expected_s(store, params)
    if seconds is None:
        return f"{cells} cells; a quick run will tell how long they take, before they are measured."
    return f"{cells} cells take about {duration_s(seconds)}, by the latency of the last profile."


def _numbers(option: str, text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and int(part) > 0 for part in parts):
        raise RequestError(f"'{text}' is no list of whole numbers above 0.", hint=f"Write {option} 1,2,4.")
    return [int(part) for part in parts]


def _limit(limit_ms: float | None) -> float | None:
    if limit_ms is not None and not 0 < limit_ms < float("inf"):
        raise RequestError(f"--latency-limit takes a number of milliseconds above 0, not {limit_ms:g}.")
    return limit_ms
