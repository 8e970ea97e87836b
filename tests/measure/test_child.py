from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import psutil
import pytest

from core.errors import CrashedError, RunError
from core.measure.child import Child, open_children
from core.runtime.settings import SessionSettings
from tests.measure.data import classifier

SETTINGS = SessionSettings()
FEEDS = [{"x": np.ones((1, 8), np.float32)}, {"x": np.zeros((1, 8), np.float32)}]


def _pid(child: Child) -> int:
    return child._process.pid


def test_a_child_runs_feeds_by_number_and_tells_its_memory() -> None:
    with open_children({"model": classifier()}, FEEDS, SETTINGS) as children:
        timing = children["model"].run(1, warm=1, times=3)
        assert timing.ns > 0
        assert 10e6 < children["model"].peak_bytes() < 1e9


def test_a_childs_memory_is_its_own_and_not_that_of_its_parent() -> None:
    ballast = np.ones(20_000_000)
    with open_children({"model": classifier()}, FEEDS, SETTINGS) as children:
        assert children["model"].peak_bytes() < ballast.nbytes


def test_children_are_gone_after_the_block_even_after_an_error() -> None:
    pids: list[int] = []

    def fail() -> None:
        with open_children({"a": classifier(), "b": classifier()}, FEEDS, SETTINGS) as both:
            pids.extend(_pid(child) for child in both.values())
            both["a"].run(99)

    with pytest.raises(CrashedError):
        fail()
    assert len(pids) == 2
    assert not any(psutil.pid_exists(pid) for pid in pids)


def test_a_model_that_cannot_be_opened_is_named() -> None:
    with (
        pytest.raises(RunError, match="The candidate failed: onnxruntime cannot open the model"),
        open_children({"original": classifier(), "candidate": b"no model"}, FEEDS, SETTINGS),
    ):
        pytest.fail("it opened")


def test_a_sample_that_fails_is_told_as_the_models_failure() -> None:
    feeds = [{"x": np.ones((1, 3), np.float32)}]
    with (
        open_children({"original": classifier()}, feeds, SETTINGS) as children,
        pytest.raises(RunError, match="The original failed"),
    ):
        children["original"].run(0)


def test_a_child_that_dies_is_named_with_the_sample_and_the_signal() -> None:
    with open_children({"candidate": classifier()}, FEEDS, SETTINGS) as children:
        child = children["candidate"]
        os.kill(_pid(child), signal.SIGKILL)
        with pytest.raises(CrashedError, match=r"candidate died on sample 2 \(killed by SIGKILL\)") as caught:
            child.run(1)
        assert caught.value.hint is not None
        assert "memory" in caught.value.hint


def test_a_model_from_a_file_is_not_copied(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(classifier())
    with open_children({"model": path}, FEEDS, SETTINGS) as children:
        assert children["model"].run(0).ns > 0


def test_texts_reach_the_child() -> None:
    import onnx_ir as ir

    from tests.runtime.models import parse

    model = ir.to_proto(parse("y = Identity(x)", "(string[2] x) => (string[2] y)")).SerializeToString()
    with open_children({"model": model}, [{"x": np.array(["ä", "b"], object)}], SETTINGS) as children:
        assert children["model"].run(0).ns > 0
