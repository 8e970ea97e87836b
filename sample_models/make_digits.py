"""Trains digits-cnn: a residual network on scikit-learn's images of handwritten digits."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import onnx_ir as ir
import onnxruntime as ort
from making import HERE, SEED, export, module_of, save, write_data
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

if TYPE_CHECKING:
    from pathlib import Path

    import torch
    from torch import nn

CALIBRATION_SAMPLES, EVALUATION_SAMPLES, HOLDOUT_SAMPLES = 128, 200, 400
WIDTHS, BLOCKS = (48, 112, 288), (1, 1, 2)
EPOCHS, BATCH, PEAK_LEARNING_RATE = 120, 64, 3e-3
LABEL_SMOOTHING, WEIGHT_DECAY = 0.05, 0.02
MAX_ROTATION_RAD, MAX_SHIFT, SCALE_RANGE, MAX_NOISE = 0.2, 0.15, (0.88, 1.14), 0.06


def upscale(images: np.ndarray) -> np.ndarray:
    """8x8 images of 0..16 as float32 [N, 1, 32, 32] of 0..1, bilinear with half-pixel centres."""
    centres = np.clip((np.arange(32) + 0.5) / 4 - 0.5, 0, 7)
    left = np.minimum(centres.astype(int), 6)
    weights = np.zeros((32, 8))
    weights[np.arange(32), left] = 1 - (centres - left)
    weights[np.arange(32), left + 1] = centres - left
    return (weights @ (images / 16) @ weights.T)[:, None].astype(np.float32)


def split_digits() -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The training samples (not shipped) and the shipped ones with `__split__`; stratified, no sample in two."""
    digits = load_digits()
    images, labels = upscale(digits.images), digits.target.astype(np.int64)
    shipped = CALIBRATION_SAMPLES + EVALUATION_SAMPLES + HOLDOUT_SAMPLES
    train, rest = train_test_split(np.arange(len(labels)), test_size=shipped, stratify=labels, random_state=SEED)
    held, used = train_test_split(
        rest, test_size=CALIBRATION_SAMPLES + EVALUATION_SAMPLES, stratify=labels[rest], random_state=SEED
    )
    evaluation, calibration = train_test_split(
        used, test_size=CALIBRATION_SAMPLES, stratify=labels[used], random_state=SEED
    )
    order = np.concatenate([calibration, evaluation, held])
    split = np.repeat(np.arange(3, dtype=np.int8), [len(calibration), len(evaluation), len(held)])
    return (
        {"image": images[train], "y": labels[train]},
        {"image": images[order], "y": labels[order], "__split__": split},
    )


def make_digits_cnn() -> None:
    """Trains the residual network, exports it, writes its data and says how right it is."""
    import torch  # only this sample needs it

    random.seed(SEED)
    torch.manual_seed(SEED)
    torch.use_deterministic_algorithms(mode=True)
    torch.set_num_threads(1)
    train, shipped = split_digits()
    network = build_network()
    train_network(network, train)
    target = HERE / "digits-cnn.onnx"
    export_network(network, target)
    write_data("digits-cnn", shipped)
    session = ort.InferenceSession(target, providers=["CPUExecutionProvider"])
    for name, number in (("calibration", 0), ("evaluation", 1), ("holdout", 2)):
        chosen = shipped["__split__"] == number
        logits = session.run(["logits"], {"image": shipped["image"][chosen]})[0]
        print(f"{name}: accuracy {np.mean(logits.argmax(1) == shipped['y'][chosen]):.4f} of {chosen.sum()}")
    print(f"{target.name}: {target.stat().st_size} bytes")


def build_network() -> nn.Module:
    """Stem of stride 2, three stages of residual blocks that halve the image, average pool, linear."""
    from torch import nn

    class Block(nn.Module):
        """Two 3x3 convolutions beside a shortcut, added, then ReLU."""

        def __init__(self, inputs: int, outputs: int, stride: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(outputs)
            self.relu1 = nn.ReLU()
            self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(outputs)
            self.relu2 = nn.ReLU()
            if stride == 1 and inputs == outputs:
                self.shortcut = None
            else:
                conv = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
                self.shortcut = nn.Sequential()
                self.shortcut.add_module("conv", conv)
                self.shortcut.add_module("bn", nn.BatchNorm2d(outputs))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = self.bn2(self.conv2(self.relu1(self.bn1(self.conv1(x)))))
            return self.relu2(y + (x if self.shortcut is None else self.shortcut(x)))

    class DigitsNetwork(nn.Module):
        """[N, 1, 32, 32] -> [N, 10]."""

        def __init__(self) -> None:
            super().__init__()
            self.stem = nn.Sequential()
            self.stem.add_module("conv", nn.Conv2d(1, WIDTHS[0], 3, 2, 1, bias=False))
            self.stem.add_module("bn", nn.BatchNorm2d(WIDTHS[0]))
            self.stem.add_module("relu", nn.ReLU())
            self.stages, width = [], WIDTHS[0]
            for number, (outputs, count) in enumerate(zip(WIDTHS, BLOCKS, strict=True), start=1):
                blocks = [Block(width if i == 0 else outputs, outputs, 2 if i == 0 else 1) for i in range(count)]
                self.add_module(f"stage{number}", nn.Sequential(*blocks))
                self.stages.append(f"stage{number}")
                width = outputs
            self.pool = nn.AdaptiveAvgPool2d(1)
            self.flatten = nn.Flatten()
            self.head = nn.Linear(width, 10)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = self.stem(x)
            for name in self.stages:
                x = getattr(self, name)(x)
            return self.head(self.flatten(self.pool(x)))

    return DigitsNetwork()


def augment(images: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Each image a little rotated, scaled, shifted and noisy."""
    import torch
    from torch.nn import functional

    count = len(images)

    def uniform(low: float, high: float) -> torch.Tensor:
        return torch.rand(count, generator=generator) * (high - low) + low

    angle, scale = uniform(-MAX_ROTATION_RAD, MAX_ROTATION_RAD), uniform(*SCALE_RANGE)
    theta = torch.zeros(count, 2, 3)
    theta[:, 0, 0] = theta[:, 1, 1] = torch.cos(angle) * scale
    theta[:, 0, 1], theta[:, 1, 0] = -torch.sin(angle) * scale, torch.sin(angle) * scale
    theta[:, 0, 2], theta[:, 1, 2] = uniform(-MAX_SHIFT, MAX_SHIFT), uniform(-MAX_SHIFT, MAX_SHIFT)
    grid = functional.affine_grid(theta, list(images.shape), align_corners=False)
    moved = functional.grid_sample(images, grid, align_corners=False)
    noise = torch.randn(images.shape, generator=generator) * uniform(0, MAX_NOISE)[:, None, None, None]
    return (moved + noise).clamp(0, 1)


def train_network(network: nn.Module, data: dict[str, np.ndarray]) -> None:
    """Trains in place: AdamW, one learning-rate cycle, augmented afresh in every epoch."""
    import torch
    from torch.nn import functional

    generator = torch.Generator().manual_seed(SEED)
    images, labels = torch.from_numpy(data["image"]), torch.from_numpy(data["y"])
    steps = EPOCHS * (len(images) // BATCH)
    optimizer = torch.optim.AdamW(network.parameters(), lr=PEAK_LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, PEAK_LEARNING_RATE, total_steps=steps)
    network.train()
    for epoch in range(EPOCHS):
        order = torch.randperm(len(images), generator=generator)
        losses = []
        for start in range(0, len(images) - BATCH + 1, BATCH):
            chosen = order[start : start + BATCH]
            logits = network(augment(images[chosen], generator))
            loss = functional.cross_entropy(logits, labels[chosen], label_smoothing=LABEL_SMOOTHING)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1} of {EPOCHS}: loss {np.mean(losses):.4f}", flush=True)
    network.eval()


def export_network(network: nn.Module, path: Path) -> None:
    """Writes the ONNX file: batch norms folded by the exporter, weights named after their module."""
    import torch

    export(network, (torch.zeros(1, 1, 32, 32),), path, inputs=("image",), outputs=("logits",), axes=("batch",))
    model = ir.load(path)
    for node in model.graph:
        for value, part in zip(node.inputs[1:], ("weight", "bias"), strict=False):
            if value is not None and value.is_initializer():
                value.name = f"{module_of(node)}.{part}"
    save(model, path)
