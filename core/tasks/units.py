"""Units of a job: what all its pieces of work depend on, and which work a resumed job goes on with."""

from __future__ import annotations

import time

import numpy as np
import onnx
import onnx_ir

import core
from core.errors import NotFoundError
from core.jobs.queue import job
from core.runtime.machine import machine_id, read_conditions
from core.store.rows import new_id
from core.store.units import Units
from core.store.workspace import Workspace
from core.tasks.params import Params
from core.tasks.prepare import Prepared


def open_units(workspace: Workspace, params: Params, prepared: Prepared) -> Units:
    """The units of work on this model and data, with these settings, versions and this machine.

    With the parameter `fresh`, only those count that this very work (the job, and those that it resumes) has finished.
    """
    settings = prepared.settings
    holds = {
        "model": prepared.model.sha256,
        "data": prepared.dataset.sha256,
        "seed": prepared.subject.seed,
        "provider": settings.provider,
        "threads": settings.threads,
        "machine": machine_id(),
        "versions": {
            "mixdesk": core.__version__,
            "onnxruntime": read_conditions(settings).onnxruntime,
            "onnx": onnx.__version__,
            "onnx_ir": onnx_ir.__version__,
            "numpy": np.__version__,
        },
        "work": work_id(workspace, params) if params.get("fresh") else None,
    }

    def processor() -> float:
        return time.process_time() / settings.threads

    return Units(workspace, holds, model=prepared.model.sha256, processor=processor)


def work_id(workspace: Workspace, params: Params) -> str:
    """Names the work that a job goes on with: the first of the jobs that it resumes, else itself."""
    first = params.get("job")
    if not isinstance(first, str):
        return new_id()
    try:
        while (resumes := job(workspace, first).resumes) is not None:
            first = resumes
    except NotFoundError:  # the first job was cleaned away: the oldest that is left stands for it
        return first
    return first
