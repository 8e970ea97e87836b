from __future__ import annotations

import onnxruntime as ort
import pytest

from core.runtime.runtimes import local_providers


def test_what_computes_elsewhere_is_no_provider_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    there = ["CUDAExecutionProvider", "AzureExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setattr(ort, "get_available_providers", lambda: there)
    assert local_providers() == ("CPUExecutionProvider", "CUDAExecutionProvider")
