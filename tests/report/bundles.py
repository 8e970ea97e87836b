"""Small bundles for tests, and ways to spoil them."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from core.report.bundle import BundleParts, write_bundle
from core.report.manifest import MANIFEST, Manifest, seal

NETWORK = """
<ir_version: 8, opset_import: ["" : 17]>
network (float[batch, 3] x) => (float[batch, 2] y)
<float[3, 2] w = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}>
{ y = MatMul (x, w) }
"""
CONDITIONS = {
    "machine": "m",
    "cpu": "A CPU",
    "cores": 2,
    "features": ["avx2"],
    "onnxruntime": "1.32.0",
    "provider": "CPUExecutionProvider",
    "threads": 1,
    "batch": 1,
    "seed": 0,
    "load_average": 0.1,
    "time": "2026-01-01T00:00:00+00:00",
}
MANIFEST_OF_TESTS = Manifest(
    mixdesk="0.1.0",
    name="all fp32",
    created="2026-01-01T00:00:00+00:00",
    model_name="network",
    model_sha256="0" * 64,
    model_bytes=100,
    original_inlined=False,
    conditions=CONDITIONS,
    rests_on=("avx2",),
    data={"name": "noise", "synthetic": False},
    shapes={"x": (1, 3)},
    target="sqnr>=30",
)
RECIPE = {"version": 1, "rules": []}


def network() -> bytes:
    """A model with one product: x [batch, 3] -> y [batch, 2]."""
    return bytes(onnx.parser.parse_model(NETWORK).SerializeToString())


def make_bundle(folder: Path, *, model: Mapping[str, bytes] | None = None, **changes: Any) -> Path:
    """Writes a bundle; `model` maps model.onnx and its weight files to contents, `changes` are of the manifest."""
    files = {}
    for name, content in (model or {"model.onnx": network()}).items():
        path = folder / "source" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        files[name] = path
    holdout = folder / "holdout-source.npz"
    np.savez(holdout, x=np.ones((2, 1, 3), np.float32))
    parts = BundleParts(
        manifest=replace(MANIFEST_OF_TESTS, **changes),
        model=files,
        recipe=json.dumps(RECIPE).encode(),
        plan=b'{"version": 1, "layers": []}',
        report=json.dumps({"model": "network", "conditions": CONDITIONS, "layers": []}).encode(),
        page=b"<!doctype html>",
        holdout=holdout,
        original=network(),
    )
    return write_bundle(folder / "bundle.o3", parts)


def rewrite(path: Path, change: Callable[[dict[str, bytes]], None], *, reseal: bool = False) -> Path:
    """Unpacks a bundle, lets `change` edit its members, packs it again; `reseal` makes the manifest's digest fit."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    if reseal:
        manifest = json.loads(members[MANIFEST])
        members[MANIFEST] = json.dumps({**manifest, "digest": seal(manifest)}).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def edit_json(members: dict[str, bytes], name: str, /, **changes: Any) -> None:
    """Changes keys of a JSON member."""
    members[name] = json.dumps({**json.loads(members[name]), **changes}).encode()


def forge(path: Path, change: Callable[[Any], Any], name: str = "report.json") -> Path:
    """Changes a JSON member and all hashes with it, as somebody who writes bundles could.

    `change` edits the document in place, or returns another one.
    """

    def rewritten(members: dict[str, bytes]) -> None:
        document = json.loads(members[name])
        other = change(document)
        members[name] = json.dumps(document if other is None else other).encode()
        if name != MANIFEST:
            fresh = {"sha256": hashlib.sha256(members[name]).hexdigest(), "bytes": len(members[name])}
            rows = json.loads(members[MANIFEST])["members"]
            edit_json(members, MANIFEST, members=[{**row, **fresh} if row["name"] == name else row for row in rows])

    return rewrite(path, rewritten, reseal=True)
