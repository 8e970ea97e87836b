"""Uniform int8 of Mixdesk beside onnxruntime's own static quantizer: speed and fidelity, in one process, interleaved.

    python -m benchmarks.int8_vs_stock [digits-cnn ...] [--zoo NAME ...] [--seconds 10]

Every variant is calibrated on the same samples (minimum and maximum), timed on the same holdout samples in random order
against the same fp32 session, one thread, and compared with the fp32 outputs on all holdout samples.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import onnx
from onnxruntime.quantization import CalibrationDataReader, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from core.capability.saturation import saturates
from core.errors import MixdeskError
from core.graph.read import read_layers
from core.intake.dataset import Dataset, Split, read_dataset
from core.intake.load import load_model
from core.intake.model import Model, Openable, Serialized
from core.intake.samples import find_sample
from core.measure.noise import noise_of, sqnr_db
from core.measure.outputs import run_outputs
from core.progress import Silent
from core.recipe.precision import Precision
from core.recipe.recipe import Recipe
from core.recipe.resolve import resolve
from core.runtime.machine import read_conditions
from core.runtime.settings import SessionSettings
from core.search.timing import quick_timings
from core.transform.build import build_candidate
from core.transform.calibrate import calibrate

SETTINGS = SessionSettings()
_LIFTED_TO = 17


class Feeds(CalibrationDataReader):  # type: ignore[misc]
    """The calibration samples, one after the other."""

    def __init__(self, dataset: Dataset) -> None:
        self._feeds: Iterator[Mapping[str, Any]] = iter(
            [dataset.feed(index) for index in dataset.indices(Split.CALIBRATION)]
        )

    def get_next(self) -> Mapping[str, Any] | None:
        """The next feed, None at the end."""
        return next(self._feeds, None)


def stock(model: Path, dataset: Dataset, *, reduce_range: bool) -> bytes:
    """The stock quantizer at its best on x86: pre-processed, opset lifted, u8 activations, s8 weights per channel."""
    with tempfile.TemporaryDirectory() as folder:
        lifted, prepared, made = (Path(folder) / f"{name}.onnx" for name in ("lifted", "prepared", "made"))
        proto = onnx.load(model)
        if proto.opset_import[0].version < _LIFTED_TO:
            proto = onnx.version_converter.convert_version(proto, _LIFTED_TO)
        onnx.save(proto, lifted)
        quant_pre_process(lifted, prepared, skip_symbolic_shape=True)
        quantize_static(
            prepared,
            made,
            Feeds(dataset),
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            per_channel=True,
            reduce_range=reduce_range,
        )
        return made.read_bytes()


def ours(model: Model, dataset: Dataset) -> Serialized:
    """Everything in int8 that has an int8 form."""
    table = read_layers(model, shapes=dataset.shapes())
    ranges = calibrate(model, table, dataset, settings=SETTINGS, progress=Silent())
    plan = resolve(Recipe.uniform(Precision.INT8), table)
    narrow = saturates(SETTINGS)
    return build_candidate(model, table, plan, ranges, settings=SETTINGS, saturates=narrow).model


def measure(path: Path, data: Path, *, seconds: float) -> list[dict[str, Any]]:
    """One row per variant; a tool that fails says why."""
    model = load_model(path)
    dataset = read_dataset(data, model)
    makers: dict[str, Callable[[], Openable]] = {
        "mixdesk int8": lambda: ours(model, dataset),
        "stock u8/s8 per channel": lambda: stock(path, dataset, reduce_range=False),
        "stock, 7-bit weights": lambda: stock(path, dataset, reduce_range=True),
    }
    files: dict[str, Openable] = {}
    rows: list[dict[str, Any]] = []
    indices = dataset.indices(Split.HOLDOUT)
    reference = run_outputs(model.serialize(), dataset, indices, SETTINGS)
    for name, make in makers.items():
        row: dict[str, Any] = {"model": path.stem, "variant": name, "ratio": None, "sqnr_db": None, "why": None}
        rows.append(row)
        try:
            made = make()
            row["sqnr_db"] = sqnr_db(noise_of(reference, run_outputs(made, dataset, indices, SETTINGS)))
            files[name] = made
        except Exception as error:  # noqa: BLE001 - a foreign tool may raise anything; the table says what
            text = error.message if isinstance(error, MixdeskError) else f"{type(error).__name__}: {error}"
            row["why"] = " ".join(text.split())[:160]
    feeds = [dataset.feed(index) for index in indices[:32]]
    timings = quick_timings(model.serialize(), files, feeds, SETTINGS, budget_s=seconds, seed=0, most_rounds=400)
    for row in rows:
        if row["variant"] in files:
            found = timings.ratio(row["variant"])
            row |= {"ratio": found.ratio, "log_error": found.log_error, "median_ms": found.median_ms}
    return rows


def zoo_folder() -> Path:
    """Where real models lie that are not part of this project."""
    return Path(os.environ.get("MIXDESK_ZOO", "../shared/zoo"))


def main() -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samples", nargs="*", default=["digits-cnn"], help="bundled samples")
    parser.add_argument("--zoo", nargs="*", default=[], help="models of the zoo that have an .npz")
    parser.add_argument("--seconds", type=float, default=10.0, help="timing per model")
    asked = parser.parse_args()
    found = [find_sample(name) for name in asked.samples]
    pairs = [(sample.model, sample.data) for sample in found]
    pairs += [(zoo_folder() / f"models/{name}.onnx", zoo_folder() / f"data/{name}.npz") for name in asked.zoo]
    rows: list[dict[str, Any]] = []
    print(f"{'model':28} {'variant':26} {'speed-up':>9} {'+-':>6} {'SQNR (dB)':>10}")
    for model, data in pairs:
        for row in measure(model, data, seconds=asked.seconds):
            rows.append(row)
            if row["ratio"] is None:
                print(f"{row['model']:28} {row['variant']:26} {row['why']}")
            else:
                spread = 1.96 * row["log_error"] * row["ratio"]
                print(
                    f"{row['model']:28} {row['variant']:26} {row['ratio']:8.2f}x {spread:6.2f} {row['sqnr_db']:10.1f}"
                )
    print(json.dumps({"conditions": read_conditions(SETTINGS).to_dict(), "rows": rows}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
