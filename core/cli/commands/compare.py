"""`mixdesk compare A B`: B against A, measured in pairs; with a gate for scripts."""

from __future__ import annotations

from typing import Annotated

import typer

from core.cli import answer, options, work
from core.cli.extras import Extras
from core.cli.files import find_data, find_model, put_model, subject_params
from core.cli.request import read_request

FirstArgument = Annotated[str, typer.Argument(metavar="A", help="The original: an .onnx file or a sample's name.")]
SecondArgument = Annotated[str, typer.Argument(metavar="B", help="The model to judge against it.")]
GateOption = Annotated[
    str | None,
    typer.Option("--target", "--gate", metavar="TEXT", help='Exit 1 unless met: "speedup>=1.5x, agreement>=99%".'),
]


def compare(
    a: FirstArgument,
    b: SecondArgument,
    *,
    target: GateOption = None,
    data: options.DataOption = None,
    preprocessing: options.PreprocessingOption = None,
    tokenizer: options.TokenizerOption = None,
    limit: options.LimitOption = None,
    shape: options.ShapeOption = None,
    threads: options.ThreadsOption = 1,
    batch: options.BatchOption = 1,
    seed: options.SeedOption = 0,
    time_budget: options.BudgetOption = None,
    output: options.OutputsOption = None,
    csv: options.CsvOption = None,
    workspace: options.WorkspaceOption = None,
    as_json: options.JsonOption = False,
) -> int:
    """Measure model B against model A on the same data."""
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
    first, second = find_model(a), find_model(b)
    data_path = find_data(request.data, first)
    extras = Extras(csv=csv)
    extras.check(None, first.path, second.path, data_path)
    store = work.open_workspace(request.workspace)
    params = {
        **subject_params(store, first, data_path, request),
        **request.params(),
        "candidate_file": put_model(store, second.path),
        "candidate_name": second.name,
        "target": request.target,
    }
    if request.time_budget_s is not None:
        params["time_budget_s"] = request.time_budget_s
    document = work.run_job(store, "compare", params, title=f"Compare {first.name} with {second.name}")
    extras.write(document)
    from core.cli.reports.compare import report

    answer.give(document, report, as_json=request.as_json)
    gate = document.get("gate")
    return 1 if gate and gate.get("met") is False else 0
