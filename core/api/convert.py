"""Converting: a model in, a mixed model out, measured. The same tasks as the command line and the dashboard run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack

from core.api.desk import Place, open_desk
from core.api.given import DataGiven, ModelGiven, Subject, read_pins
from core.api.mixed import Mixed
from core.api.options import Options, at_desk, place_of
from core.errors import RequestError
from core.recipe.recipe import Recipe, read_precision
from core.report.recipe_file import as_recipe, read_recipe_file

RecipeGiven = Recipe | Mapping[str, Any] | str | Path


def convert_model(
    model: ModelGiven,
    *,
    data: DataGiven | None = None,
    precision: str = "mixed",
    target: str | None = None,
    dynamic_graph: bool = False,
    cache_strategy: str = "none",
    objective: str = "latency",
    pins: Mapping[str, str] | None = None,
    time_budget_s: float | None = None,
    fresh: bool = False,
    name: str | None = None,
    **options: Unpack[Options],
) -> Mixed:
    """Makes a model measurably faster at the accuracy that `target` keeps, or gives the original back and says why.

    The work runs in a child process: whatever happens to it, the caller goes on. Ctrl-C stops it.

    Args:
        model: an .onnx file (with its weights beside it), a .zip or folder with one, the name of a sample (its data
            is then the default), bytes, or an `onnx.ModelProto`.
        data: an .npz file; a mapping of arrays, first axis samples (`y` holds labels, `__split__` 0, 1 or 2 for
            calibration, evaluation and holdout); an iterable of feeds `{input: array}`, one for each sample; or a
            folder, .zip or file of images, sound or text. None: seeded synthetic inputs.
        precision: "mixed" chooses layer by layer; "int8" asks it of every layer. Either way the original comes back
            where the result is not surely faster (95 % interval above 1) or misses the target.
        target: "accuracy>=99%", "sqnr>=30", "agreement>=99%,speedup>=2x". None: 99 % of the accuracy, without labels
            an SQNR of 25 dB.
        dynamic_graph: allows early exits and the like. This version builds none; `document["dynamic"]` says so.
        cache_strategy: "none" or "auto", which allows caches. This version builds none; `document["session"]` says so.
        objective: "latency".
        pins: layer id -> precision that must not change.
        time_budget_s: wall time of the search and its proof; None: 120 s.
        fresh: measure anew instead of going on with what an earlier call has found.
        name: how the candidate is called in the workspace.
        options: labels, preprocessing, tokenizer, limit, shapes, outputs, threads, batch, seed, workspace, progress:
            see `core.Options`.

    Raises:
        RequestError: what was given or asked is wrong, or not in this version (its kinds: Model-, Data-, TargetError).
        WorkError: the work failed, its process died, or somebody stopped it.
        KeyboardInterrupt: Ctrl-C; the job is stopped by then, and what it had found is kept.
    """
    asked = {
        "precision": precision,
        "target": target,
        "dynamic_graph": dynamic_graph,
        "cache": cache_strategy,
        "objective": objective,
        "pins": read_pins(pins),
        "time_budget_s": time_budget_s,
        "fresh": fresh,
        "name": name,
    }
    return _mixed("optimize", model, data, asked, options)


def build_model(
    model: ModelGiven,
    recipe: RecipeGiven | None = None,
    *,
    precision: str | None = None,
    pins: Mapping[str, str] | None = None,
    strict: bool | None = None,
    data: DataGiven | None = None,
    measure: bool = True,
    target: str | None = None,
    time_budget_s: float | None = None,
    fresh: bool = False,
    name: str | None = None,
    **options: Unpack[Options],
) -> Mixed:
    """Builds just what a recipe asks and measures it against the original, be it better or worse.

    Args:
        model: as for `convert_model`.
        recipe: a `Recipe`, its JSON as a mapping, or the path of a .json file or a bundle (.o3). One that was made
            for another model (a retrained one, say) is fitted to this: `differences` lists what is not as it was.
        precision: one precision for every layer, instead of a recipe.
        pins: layer id -> precision, above all rules.
        strict: True refuses a rule whose layer is missing, False drops and lists it. None: drops it where the recipe
            says which model it was made for.
        data: as for `convert_model`; sets the ranges of int8, and is what is measured on.
        measure: whether speed and accuracy are compared with the original; fidelity always is.
        target: a gate; whether it is met is in `target`.
        time_budget_s: wall time of the comparison; None: 10 s.
        fresh: as for `convert_model`.
        name: how the candidate is called in the workspace.
        options: see `core.Options`.

    Raises:
        RecipeError: the recipe cannot be read, or names what the model does not have.
        MixdeskError: as `convert_model`.
    """
    asked = {
        "recipe": read_recipe(recipe, precision),
        "pins": read_pins(pins),
        "strict": strict,
        "measure": measure,
        "target": target,
        "time_budget_s": time_budget_s,
        "fresh": fresh,
        "name": name or _recipe_name(recipe, precision),
    }
    return _mixed("build", model, data, asked, options)


def load_candidate(candidate: str, *, workspace: Place = None) -> Mixed:
    """A candidate that the dashboard, the command line or an earlier call has made.

    Args:
        candidate: its id, or any unique beginning of at least 6 characters.
        workspace: see `core.Options`.

    Raises:
        NotFoundError: there is none.
    """
    with open_desk(workspace) as desk:
        place = place_of({"workspace": workspace}, desk)
        return Mixed(desk.workspace.candidate(candidate).report, place=place)


def list_candidates(model: ModelGiven | None = None, *, workspace: Place = None) -> list[Mixed]:
    """Everything that was built from a model, or from any, newest first.

    Raises:
        NotFoundError: no such file or sample.
    """
    with open_desk(workspace) as desk:
        sha256 = None if model is None else Subject(model=model).put(desk)["model"]
        place = place_of({"workspace": workspace}, desk)
        return [Mixed(row.report, place=place) for row in desk.workspace.candidates(sha256)]


def read_recipe(recipe: RecipeGiven | None, precision: str | None) -> dict[str, Any]:
    """The JSON of the rules that were given: a recipe, or one precision for everything.

    Raises:
        RequestError: neither or both.
        NotFoundError, RecipeError, UnavailableError: no such file, no recipe, or no precision of this version.
    """
    if (recipe is None) == (precision is None):
        raise RequestError("Give either a recipe or precision=.", hint="For example precision='int8'.")
    if precision is not None:
        return Recipe.uniform(read_precision(precision)).to_dict()
    if isinstance(recipe, str | Path):
        return read_recipe_file(Path(recipe).expanduser())
    return as_recipe(recipe.to_dict() if isinstance(recipe, Recipe) else recipe)


def _recipe_name(recipe: RecipeGiven | None, precision: str | None) -> str | None:
    return Path(recipe).stem if isinstance(recipe, str | Path) else precision


def _mixed(kind: str, model: ModelGiven, data: DataGiven | None, asked: Mapping[str, Any], options: Options) -> Mixed:
    """Runs the job of this kind and hands its candidate over."""
    with at_desk(model, data, options) as (desk, params):
        told = {key: value for key, value in asked.items() if value is not None}
        document = desk.run(kind, params | told, title=f"{kind.capitalize()} {params['model_name']}")
        return Mixed(document, place=place_of(options, desk))
