"""What the scripts that rebuild the samples share: where files go, the seed, the export from torch."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx
import onnx_ir as ir

if TYPE_CHECKING:
    import torch
    from torch import nn

HERE = Path(__file__).resolve().parent
SEED = 7


def write_data(name: str, arrays: dict[str, np.ndarray]) -> None:
    """Writes data/NAME.npz."""
    np.savez_compressed(HERE / "data" / f"{name}.npz", allow_pickle=False, **arrays)


def export(
    network: nn.Module,
    example: tuple[torch.Tensor, ...],
    path: Path,
    *,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    axes: tuple[str, ...],
) -> None:
    """Writes the ONNX file (opset 17); the first axes of inputs bear the names `axes`, that of outputs the first."""
    import torch

    dynamic = {name: dict(enumerate(axes)) for name in inputs} | {name: {0: axes[0]} for name in outputs}
    logging.disable(logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network,
            example,
            path,
            input_names=list(inputs),
            output_names=list(outputs),
            dynamic_axes=dynamic,
            opset_version=17,
            dynamo=False,
        )


def save(model: ir.Model, path: Path) -> None:
    """Writes the edited model without what only clutters the file, and checks it."""
    model.metadata_props.clear()
    model.producer_name, model.producer_version = "mixdesk sample_models/make.py", ""
    ir.save(model, path)
    onnx.checker.check_model(path, full_check=True)


def module_of(node: ir.Node) -> str:
    """The module that a node's name tells: "/stage1/stage1.0/conv1/Conv" is of "stage1.0.conv1"."""
    parts = ".".join(dict.fromkeys((node.name or "").strip("/").split("/")[:-1])).split(".")
    return ".".join(part for i, part in enumerate(parts) if i == 0 or part != parts[i - 1])
