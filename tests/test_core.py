"""`import core` is quick and brings nothing heavy along; every name it promises is there."""

from __future__ import annotations

import subprocess
import sys

import pytest

import core
from tests.architecture import ROOT

HEAVY = "numpy", "onnx", "onnxruntime", "pandas", "scipy", "sqlalchemy", "streamlit"


def test_importing_core_imports_nothing_heavy() -> None:
    script = f"import core, sys; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", core.__all__)
def test_every_promised_name_is_there_and_documented(name: str) -> None:
    assert getattr(core, name).__doc__
    assert name in dir(core)


def test_a_name_that_is_not_there_is_told() -> None:
    with pytest.raises(AttributeError, match="no attribute 'wings'"):
        _ = core.wings


def test_types_are_shipped() -> None:
    assert (ROOT / "core" / "py.typed").is_file()
