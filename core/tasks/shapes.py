"""Shapes: the sizes that a model's open dimensions get without data, tried once per model and kept.

Nobody has run the model before: it is tried in a process of its own, which it may crash.
"""

from __future__ import annotations

import json
from dataclasses import replace

import core
from core.intake.model import Model
from core.measure.first_run import refusal_alone
from core.runtime.machine import read_conditions
from core.runtime.trial import MOST_SECONDS, Trial, shapes_that_run
from core.store.workspace import Workspace
from core.tasks.params import Subject
from core.tasks.run_limits import run_limits


def tried_shapes(workspace: Workspace, subject: Subject, model: Model) -> Trial:
    """Shapes for all inputs, as far as given from the subject; from the workspace where they were tried before.

    Raises:
        DataError: a given shape does not fit, or an input's rank is unknown.
    """
    if not any(isinstance(size, str) for spec in model.inputs for size in spec.shape or ()):
        return shapes_that_run(model, subject.settings, subject.shapes, seed=subject.seed)
    key = _key(subject)
    known = workspace.cache_get(key)
    if known is not None:
        return Trial({name: tuple(shape) for name, shape in known["shapes"].items()}, tuple(known["remarks"]))
    limits = replace(run_limits(), seconds=MOST_SECONDS)
    alone = refusal_alone(model, subject.settings, limits)
    trial = shapes_that_run(model, subject.settings, subject.shapes, seed=subject.seed, refusal=alone)
    kept = {"shapes": {name: list(shape) for name, shape in trial.shapes.items()}, "remarks": list(trial.remarks)}
    workspace.cache_put(key, kept, model=subject.model)
    return trial


def _key(subject: Subject) -> str:
    """What the trial depends on: model, given shapes, versions, provider."""
    runtime = read_conditions(subject.settings).onnxruntime
    given = json.dumps({name: list(shape) for name, shape in subject.shapes.items()}, sort_keys=True)
    parts = (subject.model, given, f"onnxruntime {runtime}", f"mixdesk {core.__version__}", subject.settings.provider)
    return "shapes / " + " / ".join(parts)
