"""Mixdesk: a mixing desk for ONNX models. This package is the engine, without any user interface.

    from core import convert_model, load_bundle
    mixed = convert_model("model.onnx", data="eval.npz", target="accuracy>=99%")
    print(mixed.summary())
    mixed.save("optimized.o3")

The names below are imported when they are first used: `import core` itself is quick. docs/python.md shows them at work.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from core.api.answers import Comparison, Inspection, Machine, Profile, Verification
    from core.api.convert import build_model, convert_model, list_candidates, load_candidate
    from core.api.look import compare_models, inspect_model, profile_model, read_machine, verify_bundle
    from core.api.mixed import Mixed
    from core.api.options import Options
    from core.api.sweep import Sweep, sweep_model
    from core.errors import MixdeskError
    from core.intake.samples import list_samples
    from core.recipe.precision import Precision
    from core.recipe.recipe import Recipe, Rule
    from core.report.bundle import Bundle, load_bundle
    from core.store.workspace import Workspace

#: Name -> module that has it.
_HOMES = {
    "Bundle": "core.report.bundle",
    "Comparison": "core.api.answers",
    "Inspection": "core.api.answers",
    "Machine": "core.api.answers",
    "MixdeskError": "core.errors",
    "Mixed": "core.api.mixed",
    "Options": "core.api.options",
    "Precision": "core.recipe.precision",
    "Profile": "core.api.answers",
    "Recipe": "core.recipe.recipe",
    "Rule": "core.recipe.recipe",
    "Sweep": "core.api.sweep",
    "Verification": "core.api.answers",
    "Workspace": "core.store.workspace",
    "build_model": "core.api.convert",
    "compare_models": "core.api.look",
    "convert_model": "core.api.convert",
    "inspect_model": "core.api.look",
    "list_candidates": "core.api.convert",
    "list_samples": "core.intake.samples",
    "load_bundle": "core.report.bundle",
    "load_candidate": "core.api.convert",
    "profile_model": "core.api.look",
    "read_machine": "core.api.look",
    "sweep_model": "core.api.sweep",
    "verify_bundle": "core.api.look",
}

__all__ = [
    "Bundle", "Comparison", "Inspection", "Machine", "MixdeskError", "Mixed", "Options", "Precision", "Profile",
    "Recipe", "Rule", "Sweep", "Verification", "Workspace", "build_model", "compare_models", "convert_model",
    "inspect_model", "list_candidates", "list_samples", "load_bundle", "load_candidate", "profile_model",
    "read_machine", "sweep_model", "verify_bundle",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'core' has no attribute '{name}'")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
