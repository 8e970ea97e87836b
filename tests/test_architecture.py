"""The architecture holds: import order, no interface in the engine, sizes. Every check also proves that it can fail."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Callable

import pytest

from tests import architecture
from tests.architecture import ROOT, Module, functions, parse, source

Check = Callable[[Module], list[str]]

CORE = source("core")
DASHBOARD = source("dashboard")

CHECKS: dict[str, tuple[Check, list[Module]]] = {
    "imports flow one way": (architecture.import_order, CORE),
    "the engine has no face": (architecture.faceless, CORE),
    "only core.runtime imports onnxruntime": (architecture.one_home_for_the_runtime, CORE + DASHBOARD),
    "pages build on widgets, never the reverse": (architecture.dashboard_order, DASHBOARD),
    "only the command line prints": (architecture.silent, CORE + DASHBOARD),
    "files, functions and pages are small": (architecture.sizes, CORE + DASHBOARD + source("tests")),
    "names tell something": (architecture.telling_names, CORE + DASHBOARD),
    "every module tells its idea": (architecture.told_in_the_first_line, CORE + DASHBOARD),
    "errors are honest": (architecture.honest_errors, CORE + DASHBOARD),
}

BAD_EXAMPLES: list[tuple[Check, str, str]] = [
    (architecture.import_order, "core.graph.read", "from core.measure.profile import profile_model"),
    (architecture.import_order, "core.graph.read", "def late():\n    import core.cli"),
    (architecture.import_order, "core.graph.read", "from core import tasks"),
    (architecture.import_order, "core.graph.read", "from . import layer"),
    (architecture.import_order, "core.extras.thing", "import json"),
    (architecture.faceless, "core.report.page", "import streamlit as st"),
    (architecture.faceless, "core.report.page", "from plotly import graph_objects"),
    (architecture.one_home_for_the_runtime, "core.measure.paired", "from onnxruntime import InferenceSession"),
    (architecture.dashboard_order, "dashboard.widgets.strip", "from dashboard.app_pages import profile"),
    (architecture.dashboard_order, "dashboard.services", "from dashboard.widgets import strip"),
    (architecture.dashboard_order, "dashboard.figures.heat", "import streamlit"),
    (architecture.dashboard_order, "dashboard.tables", "from dashboard import services"),
    (architecture.silent, "core.measure.paired", "print('done')"),
    (architecture.silent, "core.measure.paired", "import sys\nsys.stdout.write('done')"),
    (architecture.sizes, "core.measure.paired", "x = 1\n" * 401),
    (architecture.sizes, "core.measure.paired", "def long():\n" + "    x = 1\n" * 60),
    (architecture.sizes, "dashboard.app_pages.profile", "x = 1\n" * 121),
    (architecture.telling_names, "core.graph.utils", ""),
    (architecture.told_in_the_first_line, "core.graph.read", "import json"),
    (architecture.honest_errors, "core.graph.read", "try:\n    x = 1\nexcept ValueError:\n    pass"),
    (architecture.honest_errors, "core.graph.read", "raise Exception('no')"),
]


@pytest.mark.parametrize("rule", CHECKS)
def test_the_source_keeps_the_rule(rule: str) -> None:
    check, modules = CHECKS[rule]
    assert modules, "no source found"
    violations = [violation for module in modules for violation in check(module)]
    assert not violations, f"{rule}:\n" + "\n".join(violations)


@pytest.mark.parametrize(("check", "name", "text"), BAD_EXAMPLES)
def test_the_check_finds_a_bad_example(check: Check, name: str, text: str) -> None:
    assert check(parse(name, text))


def test_every_check_has_a_bad_example() -> None:
    assert {check for check, _ in CHECKS.values()} == {check for check, _, _ in BAD_EXAMPLES}


def test_the_command_line_may_print_and_the_runtime_package_may_import_the_runtime() -> None:
    assert not architecture.silent(parse("core.cli.display", "print('done')"))
    assert not architecture.one_home_for_the_runtime(parse("core.runtime.session", "import onnxruntime"))
    assert not architecture.import_order(parse("core.tasks.build", "from core.graph.layer import Layer"))


def test_functions_are_short_as_a_whole() -> None:
    lengths = [lines for module in CORE + DASHBOARD for _, lines in functions(module)]
    assert not architecture.distribution(lengths)


def test_the_distribution_check_finds_long_functions() -> None:
    assert architecture.distribution([11] * 10)
    assert architecture.distribution([5] * 90 + [55] * 10)
    assert not architecture.distribution([5] * 96 + [55] * 4)


def test_an_exception_for_the_runtime_is_argued_and_still_needed() -> None:
    users = {module.name for module in CORE for name, _ in architecture.imports(module) if "onnxruntime" in name}
    for name, argument in architecture.ONNXRUNTIME_EXCEPTIONS.items():
        assert len(argument.split()) > 5, f"{name}: why?"
        assert name in users, f"{name} no longer imports onnxruntime"


def allowed_imports() -> set[str]:
    """Top-level names that the engine and the dashboard may import: the standard library, ourselves, dependencies."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    distributions = {entry.split(">")[0].split("=")[0].split("<")[0].strip() for entry in project["dependencies"]}
    renamed = {"scikit-learn": "sklearn", "onnx-ir": "onnx_ir", "pillow": "PIL"}
    modules = {renamed.get(name, name) for name in distributions}
    # what a dependency hands out as part of its own interface
    companions = {"onnx": {"google"}, "typer": {"click"}, "numpy": {"ml_dtypes"}, "starlette": {"uvicorn"}}
    for owner, more in companions.items():
        modules |= more if owner in modules else set()
    return set(sys.stdlib_module_names) | {"core", "dashboard"} | modules


def test_imports_are_declared_dependencies() -> None:
    allowed = allowed_imports()
    violations = [line for module in CORE + DASHBOARD for line in architecture.declared(module, allowed)]
    assert not violations, "\n".join(violations)


def test_an_undeclared_import_is_found() -> None:
    assert architecture.declared(parse("core.graph.read", "import torch"), allowed_imports())


IMPORT_ALL = """
import importlib, sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {blocked}:
            raise ModuleNotFoundError(name + " is blocked", name=name)

sys.meta_path.insert(0, Refuse())
for name in {modules}:
    importlib.import_module(name)
"""


def import_without(blocked: set[str], modules: list[str]) -> subprocess.CompletedProcess[str]:
    script = IMPORT_ALL.format(blocked=sorted(blocked), modules=modules)
    return subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)


def test_every_module_of_core_imports_without_extras_and_without_an_interface() -> None:
    extras = {"torch", "pytest", "hypothesis", "playwright", "mypy", "streamlit", "plotly", "dashboard"}
    done = import_without(extras, [module.name for module in CORE if not module.name.endswith("__main__")])
    assert done.returncode == 0, done.stderr


def test_a_blocked_import_is_noticed() -> None:
    assert import_without({"numpy"}, ["numpy"]).returncode != 0
