"""What the architecture tests check: each check takes one parsed module and returns its violations as sentences."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

#: A later package may import an earlier one, never the reverse.
CORE_ORDER = [
    *("errors", "progress", "store", "jobs", "intake", "graph", "recipe", "runtime", "transform", "measure"),
    *("capability", "dynamic", "caching", "sensitivity", "search", "report", "tasks", "api", "cli"),
]

#: Engine modules outside core/runtime that import onnxruntime, each with its argument.
ONNXRUNTIME_EXCEPTIONS: dict[str, str] = {}

FACES = {"streamlit", "plotly", "dashboard"}
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "managers", "manager", "common", "misc"}
MAX_FILE_LINES, MAX_FUNCTION_LINES, MAX_PAGE_LINES = 400, 60, 120
MAX_MEDIAN_FUNCTION_LINES, MAX_95TH_PERCENTILE_FUNCTION_LINES = 10, 50


@dataclass(frozen=True)
class Module:
    """A source file: its dotted name, text and syntax tree."""

    name: str
    text: str
    tree: ast.Module

    @property
    def parts(self) -> list[str]:
        """The dotted name, split."""
        return self.name.split(".")

    @property
    def lines(self) -> int:
        """How many lines the file has."""
        return len(self.text.splitlines())


def parse(name: str, text: str) -> Module:
    """A module from its dotted name and source."""
    return Module(name=name, text=text, tree=ast.parse(text))


def source(*folders: str) -> list[Module]:
    """All modules below these folders of the repository, by name; `a/__init__.py` is module `a`."""
    found = []
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found.append(parse(name, path.read_text(encoding="utf-8")))
    return found


def imports(module: Module) -> Iterator[tuple[str, int]]:
    """Every imported dotted name with its line; `from a import b` gives `a.b`, imports inside functions included."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = "." * node.level + (node.module or "")
            yield from ((f"{start}.{alias.name}", node.lineno) for alias in node.names)


def functions(module: Module) -> Iterator[tuple[str, int]]:
    """Every function with its length in lines, signature and docstring included."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def import_order(module: Module) -> list[str]:
    """Core packages import only what comes before them, by full name."""
    found = []
    own = module.parts[1] if len(module.parts) > 1 else "cli"
    if own not in CORE_ORDER:
        return [f"{module.name}: the package '{own}' has no place in the order of core"]
    for name, line in imports(module):
        if name.startswith("."):
            found.append(f"{module.name}:{line} imports '{name}' by a relative name")
        parts = name.split(".")
        if parts[0] != "core" or len(parts) < 2 or parts[1] not in CORE_ORDER:
            continue
        if CORE_ORDER.index(parts[1]) > CORE_ORDER.index(own):
            found.append(f"{module.name}:{line} imports '{name}', which comes after core.{own}")
    return found


def faceless(module: Module) -> list[str]:
    """The engine knows no user interface."""
    return [
        f"{module.name}:{line} imports '{name}': the engine has no face"
        for name, line in imports(module)
        if name.split(".")[0] in FACES
    ]


def one_home_for_the_runtime(module: Module) -> list[str]:
    """Only core/runtime imports onnxruntime."""
    if module.name.startswith("core.runtime") or module.name in ONNXRUNTIME_EXCEPTIONS:
        return []
    return [
        f"{module.name}:{line} imports onnxruntime; only core.runtime does"
        for name, line in imports(module)
        if name.split(".")[0] == "onnxruntime"
    ]


def dashboard_order(module: Module) -> list[str]:
    """Pages use widgets, widgets use services, state, figures and tables; figures and tables know no session."""
    own = module.parts[1] if len(module.parts) > 1 else ""
    found = []
    for name, line in imports(module):
        parts = name.split(".")
        session = name.startswith("dashboard.services") or (parts[0] == "streamlit" and own == "figures")
        if own in {"figures", "tables"} and session:
            found.append(f"{module.name}:{line} imports '{name}': figures and tables are pure functions of rows")
        if parts[0] != "dashboard" or len(parts) < 2 or own not in {"widgets", "services", "state", "figures"}:
            continue
        above = {"app", "main", "app_pages"} | (set() if own == "widgets" else {"widgets"})
        if parts[1] in above:
            found.append(f"{module.name}:{line} imports '{name}', which is built on it")
    return found


def silent(module: Module) -> list[str]:
    """Only the two commands, `mixdesk` and `python -m dashboard`, write to the terminal."""
    if module.name.startswith("core.cli") or module.name == "dashboard.__main__":
        return []
    return [
        f"{module.name}:{node.lineno} prints; only core.cli does"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"print", "pprint", "sys.stdout.write"}
    ]


def sizes(module: Module) -> list[str]:
    """Files, functions and pages stay small enough to be read at once."""
    found = []
    if module.lines > MAX_FILE_LINES:
        found.append(f"{module.name} has {module.lines} lines; {MAX_FILE_LINES} are the most")
    if module.name.startswith("dashboard.app_pages.") and module.lines > MAX_PAGE_LINES:
        found.append(f"{module.name} has {module.lines} lines; a page script has {MAX_PAGE_LINES} at the most")
    for name, lines in functions(module):
        if lines > MAX_FUNCTION_LINES:
            found.append(f"{module.name}.{name} has {lines} lines; {MAX_FUNCTION_LINES} are the most")
    return found


def percentile(values: list[int], share: float) -> int:
    """The smallest value that at least this share of the values does not exceed; 0 for none."""
    ranked = sorted(values)
    return ranked[max(0, -int(-share * len(ranked) // 1) - 1)] if ranked else 0


def distribution(lengths: list[int]) -> list[str]:
    """Median and 95th percentile of all function lengths."""
    found = []
    median, high = percentile(lengths, 0.5), percentile(lengths, 0.95)
    if median > MAX_MEDIAN_FUNCTION_LINES:
        found.append(f"the median function has {median} lines; {MAX_MEDIAN_FUNCTION_LINES} are the most")
    if high > MAX_95TH_PERCENTILE_FUNCTION_LINES:
        found.append(f"5 % of the functions exceed {high} lines; {MAX_95TH_PERCENTILE_FUNCTION_LINES} are the most")
    return found


def telling_names(module: Module) -> list[str]:
    """A module's name tells its idea."""
    return [f"{module.name}: '{part}' tells nothing" for part in module.parts if part in VAGUE_NAMES]


def told_in_the_first_line(module: Module) -> list[str]:
    """Every module opens with a docstring."""
    return [] if ast.get_docstring(module.tree) else [f"{module.name} does not tell its idea in its first line"]


def honest_errors(module: Module) -> list[str]:
    """No error is swallowed in silence, none is a bare Exception."""
    found = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ExceptHandler) and all(isinstance(step, ast.Pass) for step in node.body):
            found.append(f"{module.name}:{node.lineno} swallows an error; contextlib.suppress names which and why")
        if isinstance(node, ast.Raise) and node.exc is not None:
            raised = ast.unparse(node.exc).split("(")[0]
            if raised in {"Exception", "BaseException"}:
                found.append(f"{module.name}:{node.lineno} raises a bare {raised}; core/errors.py has the tree")
    return found


def declared(module: Module, allowed: set[str]) -> list[str]:
    """Third-party imports are declared dependencies; optional extras are none."""
    return [
        f"{module.name}:{line} imports '{name}', which pyproject.toml does not name as a dependency"
        for name, line in imports(module)
        if not name.startswith(".") and name.split(".")[0] not in allowed
    ]
