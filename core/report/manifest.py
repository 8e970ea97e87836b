"""The manifest of a bundle: format, the hash of every member, what was measured on what, and under which conditions.

Its `digest` is the hash of all the rest, so that a manifest that was changed by hand is noticed too. It is no
signature: who rewrites the whole bundle can write all hashes anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

#: Counted up when a reader of before would misread what is written now.
FORMAT = 1

MANIFEST = "manifest.json"
MODEL = "model.onnx"
RECIPE = "recipe.json"
PLAN = "plan.json"
REPORT = "report.json"
REPORT_PAGE = "report.html"
HOLDOUT = "holdout.npz"
ORIGINAL = "original.onnx"
README = "README.md"
RUNNER = "run.py"

#: What a bundle must have to be used at all.
REQUIRED = (MODEL, RECIPE, PLAN, REPORT)
#: Names that no file with weights may bear.
RESERVED = frozenset({MANIFEST, *REQUIRED, REPORT_PAGE, HOLDOUT, ORIGINAL, README, RUNNER})


@dataclass(frozen=True, slots=True)
class Member:
    """One file of the bundle, as it was written."""

    name: str
    sha256: str
    size_bytes: int

    def to_dict(self) -> dict[str, Any]:
        """Its entry in the manifest."""
        return {"name": self.name, "sha256": self.sha256, "bytes": self.size_bytes}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A member that this bundle does not have, and why."""

    name: str
    why: str

    def to_dict(self) -> dict[str, Any]:
        """Its entry in the manifest."""
        return {"name": self.name, "why": self.why}


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a bundle says of itself.

    `model_sha256` and `model_bytes` are of the original as it was given, whether or not the bundle has it;
    `original_inlined` says that its weights were in other files and are inside `original.onnx` now. `data` is the
    report's, `shapes` those of one feed. `outputs` are the chosen ones with their weights; empty: all. `rests_on` are
    the instruction sets that the measured speed rests on. `sealed` says whether nothing was changed since it was
    written.
    """

    mixdesk: str
    name: str
    created: str
    model_name: str
    model_sha256: str
    model_bytes: int
    original_inlined: bool
    conditions: Mapping[str, Any]
    rests_on: tuple[str, ...]
    data: Mapping[str, Any]
    shapes: Mapping[str, tuple[int, ...]]
    target: str | None
    outputs: Mapping[str, float] = field(default_factory=dict)
    members: tuple[Member, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    format: int = FORMAT
    sealed: bool = True

    def with_members(self, members: Sequence[Member]) -> Self:
        """The same with the hashes of what was written."""
        return replace(self, members=tuple(members))

    def member(self, name: str) -> Member | None:
        """The entry of that name; None where the bundle was written without it."""
        return next((member for member in self.members if member.name == name), None)

    def why_without(self, name: str) -> str:
        """Why it was left out, as the end of a sentence."""
        return next((entry.why for entry in self.left_out if entry.name == name), "it was left out")

    @property
    def external(self) -> tuple[str, ...]:
        """The members that hold weights of `model.onnx`."""
        return tuple(member.name for member in self.members if member.name not in RESERVED)

    def to_dict(self) -> dict[str, Any]:
        """As in `manifest.json`, digest included."""
        content = {
            "format": self.format,
            "mixdesk": self.mixdesk,
            "name": self.name,
            "created": self.created,
            "model": {
                "name": self.model_name,
                "sha256": self.model_sha256,
                "bytes": self.model_bytes,
                "inlined": self.original_inlined,
            },
            "conditions": dict(self.conditions),
            "rests_on": list(self.rests_on),
            "data": dict(self.data),
            "shapes": {name: list(shape) for name, shape in self.shapes.items()},
            "target": self.target,
            "outputs": dict(self.outputs),
            "members": [member.to_dict() for member in self.members],
            "left_out": [entry.to_dict() for entry in self.left_out],
        }
        return {**content, "digest": seal(content)}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Self:
        """Reads a manifest of this format.

        Raises:
            KeyError, TypeError, ValueError: something is missing or of the wrong kind.
        """
        model = given["model"]
        members = [Member(str(row["name"]), str(row["sha256"]), _whole(row["bytes"])) for row in given["members"]]
        target = given["target"]
        return cls(
            mixdesk=str(given["mixdesk"]),
            name=str(given["name"]),
            created=str(given["created"]),
            model_name=str(model["name"]),
            model_sha256=str(model["sha256"]),
            model_bytes=_whole(model["bytes"]),
            original_inlined=bool(model["inlined"]),
            conditions=dict(given["conditions"]),
            rests_on=tuple(str(name) for name in given["rests_on"]),
            data=dict(given["data"]),
            shapes={str(name): tuple(_whole(size) for size in shape) for name, shape in given["shapes"].items()},
            target=None if target is None else str(target),
            outputs={str(name): float(weight) for name, weight in given["outputs"].items()},
            members=tuple(members),
            left_out=tuple(LeftOut(str(row["name"]), str(row["why"])) for row in given["left_out"]),
            format=_whole(given["format"]),
            sealed=given["digest"] == seal(given),
        )


def seal(content: Mapping[str, Any]) -> str:
    """SHA-256 of a manifest's JSON without its digest."""
    rest = {name: value for name, value in content.items() if name != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} is no whole number of at least 0")
    return value
