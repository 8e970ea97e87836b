"""`mixdesk build`: a model in the precision asked for, read back and measured against the original."""

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
from core.errors import RequestError

PrecisionOption = Annotated[
    str | None, typer.Option("--precision", metavar="P", help="One precision for everything that can have it: int8.")
]
RecipeOption = Annotated[
    Path | None,
    typer.Option("--recipe", metavar="R.json", help="Rules: a recipe, a result of --json, or a bundle (.o3)."),
]
StrictOption = Annotated[
    bool | None,
    typer.Option(
        "--strict/--no-strict",
        help="Refuse rules whose layer is missing, or drop and list them. Default: drop where the recipe says which "
        "model it was made for.",
    ),
]
MeasureOption = Annotated[
    bool, typer.Option("--measure/--no-measure", help="Compare with the original: latency, accuracy, fidelity.")
]


def build(
    model: options.ModelArgument,
    *,
    precision: PrecisionOption = None,
    recipe: RecipeOption = None,
    strict: StrictOption = None,
    pin: options.PinOption = None,
    out: options.OutOption = None,
    with_data: options.WithDataOption = True,
    with_original: options.WithOriginalOption = True,
    page: options.ReportOption = None,
    csv: options.CsvOption = None,
    measure: MeasureOption = True,
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
    """Build a model in the precision asked for, and measure it."""
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
    if target is not None and not measure:
        raise RequestError("--target needs the measurement.", hint="Leave --no-measure out.")
    rules, pins = _recipe(precision, recipe), read_pins(pin)
    asked = {"recipe": rules, "pins": pins, "strict": strict, "measure": measure}
    name = recipe.stem if recipe is not None else str(precision)
    extras = Extras(page, csv, with_data, with_original)
    document = _build(model, request, out, {**asked, "name": name}, extras)
    return give_result("build", document, as_json=request.as_json)


def _build(model: str, request: Request, out: Path | None, more: Mapping[str, Any], extras: Extras) -> dict[str, Any]:
    """Runs the job and writes the files; the document says which."""
    source = find_model(model)
    data = find_data(request.data, source)
    check_out(out, source.path, data)
    extras.check(out, source.path, data)
    store = work.open_workspace(request.workspace)
    params = {**subject_params(store, source, data, request), **request.params(), **more, "target": request.target}
    if request.time_budget_s is not None:
        params["time_budget_s"] = request.time_budget_s
    document = work.run_job(store, "build", params, title=f"Build {source.name}")
    written = write_out(store, document, out, data=extras.data, original=extras.original)
    extras.write(written)
    return written


def _recipe(precision: str | None, path: Path | None) -> dict[str, Any]:
    """The recipe's JSON: one precision for everything, or the rules of a recipe, a result or a bundle."""
    from core.recipe.recipe import Recipe, read_precision
    from core.report.recipe_file import read_recipe_file

    if (precision is None) == (path is None):
        raise RequestError("Say either --precision P or --recipe R.json.", hint="For example --precision int8.")
    if precision is not None:
        return Recipe.uniform(read_precision(precision)).to_dict()
    assert path is not None
    return read_recipe_file(path)
