"""What the documentation tests check: commands that exist, options that parse, links and files that hold."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from typer.main import get_command

from core.cli.app import app

ROOT = Path(__file__).resolve().parent.parent
SHELLS = {"console", "bash", "sh", "shell"}
#: Commands of the surroundings that need no check of ours.
ELSEWHERE = {"git", "cd", "ssh", "curl", "export", "docker", "cat", "ls", "cp", "mkdir"}


@dataclass(frozen=True)
class Page:
    """A Markdown page: where it lies, its text, and its text without code."""

    path: Path
    text: str

    @property
    def prose(self) -> str:
        """The text without fenced blocks."""
        return re.sub(r"^```.*?^```\s*$", "", self.text, flags=re.MULTILINE | re.DOTALL)


def pages() -> list[Page]:
    """All pages that people read: those at the top, in docs/ and beside the samples."""
    paths = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "sample_models" / "README.md"]
    return [Page(path, path.read_text(encoding="utf-8")) for path in sorted(paths)]


def fences(page: Page) -> Iterator[tuple[str, str]]:
    """Language and content of every fenced block."""
    for match in re.finditer(r"^```([a-z]*)[^\n]*\n(.*?)^```\s*$", page.text, flags=re.MULTILINE | re.DOTALL):
        yield match[1], match[2]


def inline_code(page: Page) -> list[str]:
    """Every `code span` of the prose, line breaks read as spaces."""
    return [" ".join(code.split()) for code in re.findall(r"`([^`]+)`", page.prose)]


def shell_commands(page: Page) -> Iterator[list[str]]:
    """The words of every command in a shell block; prompts, comments, outputs and variables in front are dropped."""
    for language, content in fences(page):
        if language not in SHELLS:
            continue
        lines = content.replace("\\\n", " ").splitlines()
        if any(line.startswith("$ ") for line in lines):
            lines = [line[2:] for line in lines if line.startswith("$ ")]
        for line in lines:
            for part in re.split(r"\s(?:&&|\|\||\||;)\s", line):
                words = shlex.split(part, comments=True)
                while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                    words = words[1:]
                if words:
                    yield words


def command_violations(words: list[str]) -> list[str]:
    """Why a documented command would not run; empty where it would."""
    program, arguments = Path(words[0]).name, words[1:]
    shown = " ".join(words)
    if program == "mixdesk":
        return [f"`{shown}`: {problem}" for problem in mixdesk_problems(arguments)]
    if program == "make":
        return [f"`{shown}`: {problem}" for problem in make_problems(arguments)]
    if program.startswith("python"):
        return [f"`{shown}`: {problem}" for problem in python_problems(arguments)]
    if program == "pip":
        return [f"`{shown}`: no extra '{extra}'" for extra in extras(arguments) if extra not in known_extras()]
    if program == "streamlit":
        return [] if arguments[:1] == ["run"] and (ROOT / arguments[1]).is_file() else [f"`{shown}`: no such script"]
    known = program in ELSEWHERE or program in {"pytest", "ruff", "mypy"} or (ROOT / words[0]).is_file()
    return [] if known else [f"`{shown}`: what is '{words[0]}'?"]


def mixdesk_problems(arguments: list[str]) -> list[str]:
    """Parses the arguments with the command line's own parser, without running anything."""
    command: Any = get_command(app)
    name, rest = "mixdesk", list(arguments)
    try:
        while hasattr(command, "commands") and rest and not rest[0].startswith("-"):
            name, rest = rest[0], rest[1:]
            if name not in command.commands:
                return [f"there is no command '{name}'"]
            command = command.commands[name]
            if command.hidden:
                return [f"'{name}' is not in this version"]
        command.make_context(name, rest)
    except typer.Exit:
        return []
    except typer.TyperException as error:
        return [str(error.format_message())]
    return []


def mixdesk_words(code: str) -> list[str]:
    """Problems of a span such as `mixdesk build MODEL --precision P | --recipe FILE`: unknown command or option."""
    words = [word for word in code.split() if word != "|"][1:]
    command: Any = get_command(app)
    known = {option for parameter in command.params for option in parameter.opts}
    while words and hasattr(command, "commands") and not words[0].startswith("-"):
        if words[0].isupper():
            return []
        if words[0] not in command.commands:
            return [f"`{code}`: there is no command '{words[0]}'"]
        command = command.commands[words.pop(0)]
        known = {option for parameter in command.params for option in parameter.opts}
    asked = {word.split("=")[0].strip("[],.") for word in words if word.startswith(("-", "[-"))}
    return [f"`{code}`: no option '{option}'" for option in sorted(asked - known - {"--help", "-h", "--version"})]


def make_problems(arguments: list[str]) -> list[str]:
    """Targets and variables that the Makefile does not have."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, flags=re.MULTILINE))
    variables = set(re.findall(r"^([A-Z_]+) [?:]?=", makefile, flags=re.MULTILINE))
    found = [f"no target '{word}'" for word in arguments if "=" not in word and word not in targets]
    return found + [
        f"no variable '{word}'" for word in arguments if "=" in word and word.split("=")[0] not in variables
    ]


def python_problems(arguments: list[str]) -> list[str]:
    """Modules and scripts that do not exist, and options that the dashboard does not take."""
    if arguments[:1] != ["-m"]:
        missing = arguments and not arguments[0].startswith("-") and not (ROOT / arguments[0]).is_file()
        return [f"no script '{arguments[0]}'"] if missing else []
    module, options = arguments[1], arguments[2:]
    if importlib.util.find_spec(module) is None:
        return [f"no module '{module}'"]
    if module == "pip":
        return [f"no extra '{extra}'" for extra in extras(options) if extra not in known_extras()]
    if module != "dashboard":
        return []
    help_text = importlib.import_module("dashboard.__main__")._parser().format_help()
    unknown = [word for word in options if word.startswith("--") and word.split("=")[0] not in help_text]
    return [f"no option '{word}'" for word in unknown]


def extras(arguments: list[str]) -> list[str]:
    """The extras in words like `.[test,train]`."""
    return [name for word in arguments for part in re.findall(r"\[(.*?)\]", word) for name in part.split(",")]


def known_extras() -> set[str]:
    """The extras that pyproject.toml offers."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return set(project["optional-dependencies"])


def code_span_violations(page: Page) -> list[str]:
    """Commands in code spans that do not exist, and files of ours that are not there."""
    found = []
    for code in inline_code(page):
        if code.startswith("mixdesk "):
            found += mixdesk_words(code)
        elif code.startswith(("make ", "python -m ")):
            found += command_violations(shlex.split(code))
        elif re.fullmatch(r"(core|dashboard|tests|docs|sample_models|benchmarks|\.ci|\.streamlit)/[\w./*-]*", code):
            found += [] if list(ROOT.glob(code.rstrip("/"))) else [f"`{code}` does not exist"]
    return found


def slug(heading: str) -> str:
    """The anchor of a heading: lower case, spaces as hyphens, other signs dropped."""
    text = re.sub(r"[^\w\s-]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower())
    return re.sub(r"\s", "-", text.strip())


def anchors(text: str) -> set[str]:
    """The anchors of all headings of a page."""
    return {slug(heading) for heading in re.findall(r"^#+\s+(.*)$", text, flags=re.MULTILINE)}


def link_violations(page: Page) -> list[str]:
    """Links and images inside the repository that lead nowhere."""
    found = []
    for target in re.findall(r"\]\(([^)\s]+)\)", page.prose):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.path.parent / name).resolve() if name else page.path
        if not path.exists():
            found.append(f"{target}: no such file")
        elif anchor and anchor not in anchors(path.read_text(encoding="utf-8") if name else page.text):
            found.append(f"{target}: no such heading")
    return found


def python_example_violations(page: Page) -> list[str]:
    """Python examples that do not parse, or import what is not there."""
    found = []
    for language, content in fences(page):
        if language != "python":
            continue
        try:
            tree = ast.parse(content)
        except SyntaxError as error:
            found.append(f"an example does not parse: {error.msg} in line {error.lineno}")
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                found += missing_names(node.module, [alias.name for alias in node.names])
            elif isinstance(node, ast.Import):
                found += [f"no module '{alias.name}'" for alias in node.names if not exists(alias.name)]
    return found


def exists(module: str) -> bool:
    """Whether a module can be found."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def missing_names(module: str, names: list[str]) -> list[str]:
    """Names that a module does not have."""
    if not exists(module):
        return [f"no module '{module}'"]
    loaded = importlib.import_module(module)
    return [
        f"{module} has no '{name}'" for name in names if not hasattr(loaded, name) and not exists(f"{module}.{name}")
    ]
