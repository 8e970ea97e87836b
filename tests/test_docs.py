"""The documentation holds: commands run, options parse, links lead somewhere. Every check also proves it can fail."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.recipe.recipe import Recipe
from tests import documentation
from tests.documentation import ROOT, Page

PAGES = documentation.pages()
IDS = [page.path.relative_to(ROOT).as_posix() for page in PAGES]


def page(text: str) -> Page:
    return Page(ROOT / "README.md", text)


def shell(*lines: str) -> Page:
    return page("```console\n" + "\n".join(lines) + "\n```\n")


def problems(written: Page) -> list[str]:
    return [line for words in documentation.shell_commands(written) for line in documentation.command_violations(words)]


@pytest.mark.parametrize("written", PAGES, ids=IDS)
def test_every_command_exists_and_its_options_parse(written: Page) -> None:
    assert not problems(written)


@pytest.mark.parametrize("written", PAGES, ids=IDS)
def test_every_command_and_file_named_in_the_text_exists(written: Page) -> None:
    assert not documentation.code_span_violations(written)


@pytest.mark.parametrize("written", PAGES, ids=IDS)
def test_every_link_and_anchor_inside_the_repository_holds(written: Page) -> None:
    assert not documentation.link_violations(written)


@pytest.mark.parametrize("written", PAGES, ids=IDS)
def test_every_python_example_parses_and_imports_what_exists(written: Page) -> None:
    assert not documentation.python_example_violations(written)


@pytest.mark.parametrize(
    "line",
    [
        "mixdesk fly digits-cnn",
        "mixdesk profile digits-cnn --wings",
        "mixdesk profile",
        "mixdesk profile digits-cnn --threads many",
        "mixdesk jobs fly",
        "mixdesk sensitivity digits-cnn",
        "make fly",
        "make run WINGS=2",
        "python -m core.wings",
        "python -m dashboard --wings 2",
        "python wings.py",
        'pip install -e ".[wings]"',
        "streamlit run wings.py",
        "wings --fly",
    ],
)
def test_a_command_that_does_not_exist_is_found(line: str) -> None:
    assert problems(shell(line))


@pytest.mark.parametrize(
    "line",
    [
        "$ mixdesk profile digits-cnn --threads 1 --json | python -m json.tool",
        "MIXDESK_WORKSPACE=/srv/desk mixdesk samples",
        "mixdesk --version",
        "mixdesk profile --help",
        "make run PYTHON=python3.12  # another interpreter",
        "python -m dashboard --port 8600",
        'pip install -e ".[train]"',
    ],
)
def test_a_command_that_exists_passes(line: str) -> None:
    assert not problems(shell(line))


def test_a_continued_line_is_read_as_one_command() -> None:
    assert problems(shell("mixdesk profile digits-cnn \\", "  --wings 2"))


def test_output_below_a_prompt_is_not_read_as_a_command() -> None:
    assert not problems(shell("$ mixdesk samples", "wings of a dove"))


@pytest.mark.parametrize(
    "text",
    ["`mixdesk fly`", "`mixdesk jobs fly`", "`mixdesk profile MODEL --wings`", "`make fly`", "`core/wings.py`"],
)
def test_a_code_span_that_names_nothing_is_found(text: str) -> None:
    assert documentation.code_span_violations(page(text))


@pytest.mark.parametrize("text", ["`mixdesk COMMAND --help`", "`mixdesk jobs list`", "`core/graph/*.py`", "`make run`"])
def test_a_code_span_that_names_something_passes(text: str) -> None:
    assert not documentation.code_span_violations(page(text))


def test_broken_links_and_anchors_are_found() -> None:
    assert documentation.link_violations(page("[a](docs/wings.md)"))
    assert documentation.link_violations(page("# One\n[a](#two)"))
    assert documentation.link_violations(page("![a](wings.png)"))
    assert not documentation.link_violations(page("# Where the time goes\n[a](#where-the-time-goes) [b](LICENSE)"))


def test_broken_python_examples_are_found() -> None:
    assert documentation.python_example_violations(page("```python\nx = = 1\n```\n"))
    assert documentation.python_example_violations(page("```python\nfrom core.errors import WingsError\n```\n"))
    assert documentation.python_example_violations(page("```python\nimport core.wings\n```\n"))
    assert not documentation.python_example_violations(page("```python\nfrom core.errors import ModelError\n```\n"))


@pytest.mark.xdist_group("timing")
def test_the_python_example_of_the_readme_runs(tmp_path: Path) -> None:
    readme = Page(ROOT / "README.md", (ROOT / "README.md").read_text(encoding="utf-8"))
    examples = [content for language, content in documentation.fences(readme) if language == "python"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MIXDESK_WORKSPACE": str(tmp_path / "workspace")}
    for example in examples:
        command = [sys.executable, "-c", example]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "mixed.o3").is_file()


@pytest.mark.xdist_group("timing")
def test_the_notebook_of_the_python_page_runs(tmp_path: Path) -> None:
    written = Page(ROOT / "docs" / "python.md", (ROOT / "docs" / "python.md").read_text(encoding="utf-8"))
    notebook = "\n".join(content for language, content in documentation.fences(written) if language == "python")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MIXDESK_WORKSPACE": str(tmp_path / "workspace")}
    command = [sys.executable, "-c", notebook]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "The model has no layer 'stem'." in done.stdout
    assert {path.suffix for path in tmp_path.iterdir() if path.is_file()} == {".o3", ".onnx", ".json", ".csv"}


@pytest.mark.parametrize("written", PAGES, ids=IDS)
def test_every_recipe_in_the_documentation_can_be_read(written: Page) -> None:
    for language, content in documentation.fences(written):
        if language == "json" and '"rules"' in content:
            assert Recipe.from_dict(json.loads(content)).rules


def test_the_pages_that_are_promised_are_there() -> None:
    assert {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/cli.md"} <= set(IDS)
    assert Path(ROOT / "docs" / "decisions").is_dir()
