"""Converting: a model in, a mixed model out, measured. The same tasks as the command line and the dashboard run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core.api.desk import Desk, Place, Watch, open_desk
from core.api.given import DataGiven, ModelGiven, OutputsGiven, PreprocessingGiven, Subject
from core.api.mixed import Mixed
from core.errors import RequestError
from core.recipe.recipe import Recipe, read_precision
from core.report.recipe_file import as_recipe, read_recipe_file

RecipeGiven = Recipe | Mapping[str, Any] | str | Path


def convert_model(
    model: ModelGiven,
    *,
    data: DataGiven | None = None,
    labels: Any = None,
    preprocessing: PreprocessingGiven | None = None,
    tokenizer: str | Path | None = None,
    limit: int | None = None,
    precision: str = "mixed",
    target: str | None = None,
    dynamic_graph: bool = False,
    cache_strategy: str = "none",
    objective: str = "latency",
    pins: Mapping[str, str] | None = None,
    outputs: OutputsGiven | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    threads: int = 1,
    batch: int = 1,
    seed: int = 0,
    time_budget_s: float | None = None,
    fresh: bool = False,
    name: str | None = None,
    workspace: Place = None,
    progress: Watch = True,
) -> Mixed:
    """Makes a model measurably faster at the accuracy that `target` keeps, or gives the original back and says why.

    The work runs in a child process: whatever happens to it, the caller goes on. Ctrl-C stops it. What is measured is
    kept in the workspace, so that the same call again is quick and the dashboard shows the result.

    Args:
        model: an .onnx file (with its weights beside it), a .zip or folder with one, the name of a sample (its data
            is then the default), bytes, or an `onnx.ModelProto`.
        data: an .npz file; a mapping of arrays, first axis samples (`y` holds labels, `__split__` 0, 1 or 2 for
            calibration, evaluation and holdout); an iterable of feeds `{input: array}`, one for each sample; or a
            folder, .zip or file of images, sound or text. None: seeded synthetic inputs, whose figures say nothing
            of real data.
        labels: one per sample, beside arrays or feeds.
        preprocessing: how images, sound or text become inputs, as declared values, JSON or a .json file. None: a
            proposal, and the remarks of the data say what it guessed.
        tokenizer: the model's tokenizer.json, for texts; None: one that lies beside the model or the data.
        limit: at most so many images, sounds or texts.
        precision: "mixed" chooses layer by layer; "int8" asks it of every layer. In both cases the original comes
            back where the result is not surely faster (95 % interval above 1) or misses the target.
        target: what must be kept, as "accuracy>=99%", "sqnr>=30" or "agreement>=99%,speedup>=2x". None: 99 % of the
            accuracy where there are labels, else an SQNR of 25 dB.
        dynamic_graph: allows early exits and the like. This version builds none; `document["dynamic"]` says so.
        cache_strategy: "none", or "auto", which allows caches. This version builds none; `document["session"]` says so.
        objective: "latency".
        pins: layer id -> precision that must not change.
        outputs: the outputs whose fidelity counts, by name, or with weights `{name: weight}`. None: all, alike.
        shapes: input -> shape of one feed, for synthetic inputs of a model with open dimensions.
        threads: of the runtime.
        batch: samples per run of the final measurement.
        seed: of everything that is drawn by chance.
        time_budget_s: wall time of the search and its proof; None: 120 s.
        fresh: measure anew instead of going on with what an earlier call has found.
        name: how the candidate is called in the workspace.
        workspace: its folder; None: that of the command line (MIXDESK_WORKSPACE, else the user's data folder).
        progress: True writes lines to standard error, False nothing; a function gets the job's row (`fraction`,
            `phase`, `what`, `eta_s`) whenever it changes.

    Raises:
        NotFoundError: no such file or sample.
        ModelError, DataError, TargetError, RecipeError, RequestError: what was given or asked is wrong.
        UnavailableError: a precision, objective or cache that this version does not have.
        RunError, CrashedError: the runtime failed on the original, or the child process died.
        StoppedError: somebody stopped the job elsewhere (in the dashboard).
        KeyboardInterrupt: Ctrl-C; the job is stopped by then, and what it had found is kept.
    """
    subject = Subject(
        model=model,
        data=data,
        labels=labels,
        preprocessing=preprocessing,
        tokenizer=tokenizer,
        limit=limit,
        shapes=shapes,
        outputs=outputs,
        threads=threads,
        batch=batch,
        seed=seed,
    )
    asked = {
        "precision": precision,
        "target": target,
        "dynamic_graph": dynamic_graph,
        "cache": cache_strategy,
        "objective": objective,
        "pins": dict(pins or {}),
        "time_budget_s": time_budget_s,
        "fresh": fresh,
        "name": name,
    }
    return _mixed("optimize", "Optimize", subject, asked, place=workspace, watch=progress)


def build_model(
    model: ModelGiven,
    recipe: RecipeGiven | None = None,
    *,
    precision: str | None = None,
    pins: Mapping[str, str] | None = None,
    strict: bool | None = None,
    data: DataGiven | None = None,
    labels: Any = None,
    preprocessing: PreprocessingGiven | None = None,
    tokenizer: str | Path | None = None,
    limit: int | None = None,
    measure: bool = True,
    target: str | None = None,
    outputs: OutputsGiven | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    threads: int = 1,
    batch: int = 1,
    seed: int = 0,
    time_budget_s: float | None = None,
    fresh: bool = False,
    name: str | None = None,
    workspace: Place = None,
    progress: Watch = True,
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
        labels: as for `convert_model`.
        preprocessing: as for `convert_model`.
        tokenizer: as for `convert_model`.
        limit: as for `convert_model`.
        measure: whether speed and accuracy are compared with the original; fidelity always is.
        target: a gate; whether it is met is in `target`.
        outputs: as for `convert_model`.
        shapes: as for `convert_model`.
        threads: as for `convert_model`.
        batch: as for `convert_model`.
        seed: as for `convert_model`.
        time_budget_s: wall time of the comparison; None: 10 s.
        fresh: measure anew instead of going on with what an earlier call has found.
        name: how the candidate is called in the workspace.
        workspace: as for `convert_model`.
        progress: as for `convert_model`.

    Raises:
        RecipeError: the recipe cannot be read, or names what the model does not have.
        MixdeskError: as `convert_model`.
    """
    subject = Subject(
        model=model,
        data=data,
        labels=labels,
        preprocessing=preprocessing,
        tokenizer=tokenizer,
        limit=limit,
        shapes=shapes,
        outputs=outputs,
        threads=threads,
        batch=batch,
        seed=seed,
    )
    asked = {
        "recipe": read_recipe(recipe, precision),
        "pins": dict(pins or {}),
        "strict": strict,
        "measure": measure,
        "target": target,
        "time_budget_s": time_budget_s,
        "fresh": fresh,
        "name": name or _recipe_name(recipe, precision),
    }
    return _mixed("build", "Build", subject, asked, place=workspace, watch=progress)


def load_candidate(candidate: str, *, workspace: Place = None) -> Mixed:
    """A candidate that the dashboard, the command line or an earlier call has made.

    Args:
        candidate: its id, or any unique beginning of at least 6 characters.
        workspace: as for `convert_model`.

    Raises:
        NotFoundError: there is none.
    """
    with open_desk(workspace) as desk:
        return Mixed(desk.workspace.candidate(candidate).report, place=_stays(workspace, desk))


def list_candidates(model: ModelGiven | None = None, *, workspace: Place = None) -> list[Mixed]:
    """Everything that was built from a model, or from any, newest first.

    Raises:
        NotFoundError: no such file or sample.
    """
    with open_desk(workspace) as desk:
        sha256 = None if model is None else Subject(model=model).put(desk)["model"]
        place = _stays(workspace, desk)
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


def _mixed(kind: str, verb: str, subject: Subject, asked: Mapping[str, Any], *, place: Place, watch: Watch) -> Mixed:
    """Runs the job of this kind and hands its candidate over."""
    with open_desk(place, watch) as desk:
        params = subject.put(desk)
        told = {key: value for key, value in asked.items() if value is not None}
        document = desk.run(kind, params | told, title=f"{verb} {params['model_name']}")
        return Mixed(document, place=_stays(place, desk))


def _stays(place: Place, desk: Desk) -> Place:
    """How the workspace is found again later: as it was given, but independent of today's environment."""
    return desk.workspace.path if place is None else place
