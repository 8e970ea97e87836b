"""Real models with the profiler on: at least 99 % of the kernel time has a home, and all adds up to the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.graph.read import read_layers
from core.intake.dataset import dataset_for
from core.intake.load import load_model
from core.measure.events import read_runs
from core.measure.spent import book
from core.runtime.attribute import open_tagged
from core.runtime.session import run_session
from core.runtime.settings import SessionSettings

MODELS = (
    "silero_vad",
    "genai_tiny_gpt2_fp16",
    "genai_tiny_lfm2_fp32",
    "optimum_tiny_model",
    "nmr_painn_gnn",
    "mnist_cnn",
    "ppocr_cls",
    "poly_loop",
    "node_scan9_sum",
    "node_if",
)


@pytest.mark.zoo
@pytest.mark.parametrize("name", MODELS)
def test_the_time_of_a_real_model_has_a_home(zoo: Path, tmp_path: Path, name: str) -> None:
    model = load_model(zoo / "models" / f"{name}.onnx", name=name)
    data = zoo / "data" / f"{name}.npz"
    dataset = dataset_for(model, data)
    tagged = open_tagged(model.ir, SessionSettings(), profile_prefix=tmp_path / "profile")
    for index in range(3):
        run_session(tagged.session, dataset.feed(index % len(dataset)))
    runs = read_runs(Path(tagged.session.end_profiling()))
    ledger = book(runs, tagged, read_layers(model, shapes=dataset.shapes()))
    homeless = sum(spent.raw_ms for name, spent in ledger.buckets.items() if name == "unattributed")
    assert homeless <= 0.01 * ledger.kernel_ms
    assert ledger.kernel_ms + ledger.gap_ms == pytest.approx(ledger.run_ms, rel=0.01)
    walls_ms = [run.wall_us / 1e3 for run in runs]
    assert min(walls_ms) <= ledger.run_ms <= max(walls_ms)
