"""Looking: inspect, profile, compare, ask the machine, verify. Each answer is the command line's document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from core.api.answers import Comparison, Inspection, Machine, Profile, Verification
from core.api.desk import Place, Watch, open_desk
from core.api.given import DataGiven, ModelGiven, find_model, put_data, put_model
from core.api.options import Options, at_desk
from core.errors import NotFoundError


def inspect_model(model: ModelGiven, *, data: DataGiven | None = None, **options: Unpack[Options]) -> Inspection:
    """Reads a model: layers, groups, operators, sizes, repairs, findings (an error there: it cannot run).

    Args:
        model: as for `convert_model`.
        data: as for `convert_model`; data that is given must fit.
        options: see `core.Options`.

    Raises:
        ModelError: the file is no model.
        DataError: the data does not fit it.
        NotFoundError, CrashedError: no such file; reading it ended the child process.
    """
    with at_desk(model, data, options, without=("outputs",)) as (desk, params):
        return Inspection(desk.run("inspect", params, title=f"Inspect {params['model_name']}"))


def profile_model(
    model: ModelGiven,
    *,
    data: DataGiven | None = None,
    runs: int | None = None,
    time_budget_s: float | None = None,
    named_shapes: Mapping[str, Mapping[str, Sequence[int]]] | None = None,
    **options: Unpack[Options],
) -> Profile:
    """Measures where the time goes, layer by layer.

    Args:
        model: as for `convert_model`.
        data: as for `convert_model`.
        runs: how many; None: as many as give a steady figure.
        time_budget_s: wall time of the measurement, and the most that one run may take; None: about 4 s, and 60 s.
        named_shapes: name -> input -> shape: also measures how each layer's cost grows from shape to shape.
        options: see `core.Options`; batch is samples per run.

    Raises:
        MixdeskError: as `convert_model`.
    """
    with at_desk(model, data, options, without=("outputs",)) as (desk, params):
        asked = {"runs": runs, "time_budget_s": time_budget_s, "named_shapes": _named(named_shapes)}
        return Profile(desk.run("profile", params | asked, title=f"Profile {params['model_name']}"))


def _named(shapes: Mapping[str, Mapping[str, Sequence[int]]] | None) -> list[dict[str, Any]]:
    """As the job is told: a list, so that a name given twice would be seen."""
    return [
        {"name": name, "shapes": {str(key): [int(size) for size in shape] for key, shape in of.items()}}
        for name, of in (shapes or {}).items()
    ]


def compare_models(
    original: ModelGiven,
    candidate: ModelGiven,
    *,
    data: DataGiven | None = None,
    target: str | None = None,
    time_budget_s: float | None = None,
    **options: Unpack[Options],
) -> Comparison:
    """Measures one model against another with the same inputs and outputs, in pairs, on the holdout samples.

    Args:
        original: model A, as for `convert_model`.
        candidate: model B; ratios above 1 mean that it is better.
        data: as for `convert_model`.
        target: a gate; whether it is met is in `gate`.
        time_budget_s: wall time of the measurement; None: 10 s.
        options: see `core.Options`.

    Raises:
        RequestError: the models have different inputs or outputs.
        MixdeskError: as `convert_model`.
    """
    with at_desk(original, data, options) as (desk, params):
        other = put_model(desk, candidate, find_model(candidate)[0])
        asked = {
            "candidate_file": other["model"],
            "candidate_name": other["model_name"],
            "target": target,
            "time_budget_s": time_budget_s,
        }
        title = f"Compare {params['model_name']} with {other['model_name']}"
        return Comparison(desk.run("compare", params | asked, title=title))


def read_machine(
    *, threads: int = 1, refresh: bool = False, seed: int = 0, workspace: Place = None, progress: Watch = True
) -> Machine:
    """What this machine executes in which precision, and how fast; known from earlier unless `refresh`.

    Raises:
        MixdeskError: probing failed.
    """
    with open_desk(workspace, progress) as desk:
        params = {"threads": threads, "seed": seed, "refresh": refresh}
        return Machine(desk.run("machine", params, title="Probe this machine"))


def verify_bundle(
    bundle: str | Path,
    *,
    data: DataGiven | None = None,
    labels: Any = None,
    original: str | Path | None = None,
    threads: int | None = None,
    time_budget_s: float | None = None,
    workspace: Place = None,
    progress: Watch = True,
) -> Verification:
    """Measures the figures of a bundle again, here and now, in a fresh process.

    Args:
        bundle: an .o3 file.
        data: samples to measure on, as arrays, feeds or an .npz file; None: those in the bundle.
        labels: one per sample, beside arrays or feeds.
        original: the file of the original model; None: the one in the bundle.
        threads: of the runtime; None: as it was measured.
        time_budget_s: wall time of the measurement; None: 10 s.
        workspace: see `core.Options`.
        progress: see `core.Options`.

    Raises:
        NotFoundError: no such file, or the bundle has no original or samples and none are given.
        BundleError: no bundle, damaged beyond reading, or of a newer format.
        MixdeskError: as `convert_model`.
    """
    path = Path(bundle).expanduser()
    if not path.is_file():
        raise NotFoundError(f"There is no bundle '{bundle}'.")
    with open_desk(workspace, progress) as desk:
        asked = {
            "bundle": str(path.resolve()),
            **({} if data is None else put_data(desk, data, labels)),
            "original": None if original is None else str(Path(original).expanduser().resolve()),
            "threads": threads,
            "time_budget_s": time_budget_s,
        }
        return Verification(desk.run("verify", asked, title=f"Verify {path.name}"))
