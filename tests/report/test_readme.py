"""The page and the script in a bundle: names cannot break out, the script compiles and uses nothing of ours."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from core.report.manifest import LeftOut
from core.report.readme import RUNNER_TEXT, readme
from tests.report.bundles import MANIFEST_OF_TESTS


def test_the_script_needs_only_onnxruntime_and_numpy() -> None:
    tree = ast.parse(RUNNER_TEXT)
    named = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    named |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert named == {"sys", "pathlib", "numpy", "onnxruntime"}


def test_names_stay_on_their_line() -> None:
    text = readme(replace(MANIFEST_OF_TESTS, name="a\n# b `c` | <d>", model_name="m|n"))
    assert text.startswith("# a  b c  d>\n")
    assert "mn (" in text


@pytest.mark.parametrize("name", ["auto-mix accuracy>=99%", "auto-mix size<=10MB", "all_int8 >"])
def test_a_title_keeps_the_signs_of_targets_and_names(name: str) -> None:
    assert readme(replace(MANIFEST_OF_TESTS, name=name)).startswith(f"# {name}\n")


def test_what_was_left_out_is_told_with_its_reason() -> None:
    text = readme(replace(MANIFEST_OF_TESTS, left_out=(LeftOut("original.onnx", "it is too large"),)))
    assert "| (original.onnx) | not in this bundle: it is too large |" in text
    assert "| holdout.npz | samples" in text
