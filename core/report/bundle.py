"""Bundle: an optimized model with its recipe, plan, report and proof in one file that can be taken away and run.

Reading one executes nothing of it: members are checked against their hashes, JSON is read as JSON, arrays without
pickles, and the model goes through the same checks as any other before the runtime opens it.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from numpy.typing import ArrayLike

from core.errors import BundleError, MixdeskError, ModelError, RunError
from core.intake.feed import fitting_feed
from core.intake.load import load_model
from core.intake.model import Model, TensorSpec
from core.report.container import Container, Content, altered, model_members, write_members
from core.report.contents import check_report
from core.report.instructions import missing_here
from core.report.manifest import (
    HOLDOUT,
    MODEL,
    ORIGINAL,
    PLAN,
    README,
    RECIPE,
    REPORT,
    REPORT_PAGE,
    RESERVED,
    RUNNER,
    Manifest,
)
from core.report.readme import RUNNER_TEXT, readme
from core.report.summary import summarize
from core.runtime.machine import cpu_features
from core.runtime.session import Session, open_session, run_session
from core.runtime.settings import SessionSettings
from core.store.atomic import written_whole


@dataclass(frozen=True, slots=True)
class BundleParts:
    """What a bundle is made of. `model` maps `model.onnx` and the names of its weight files to files.

    `holdout` and `original` are None where they are left out; the manifest then says why.
    """

    manifest: Manifest
    model: Mapping[str, Path]
    recipe: bytes
    plan: bytes
    report: bytes
    page: bytes
    holdout: Path | None
    original: bytes | Path | None


def write_bundle(out: Path, parts: BundleParts) -> Path:
    """Writes a bundle in one step; the same parts give the same bytes.

    Raises:
        BundleError: a file with weights bears the name of another member.
        OSError: it cannot be written.
    """
    taken = {name.lower() for name in RESERVED}
    for name in parts.model:
        if name != MODEL and name.lower() in taken:
            message = f"The model keeps weights in a file called '{name}', which a bundle needs for itself."
            raise BundleError(message, hint="Export the model with another name for that file.")
    optional = [(HOLDOUT, parts.holdout), (ORIGINAL, parts.original)]
    contents = [
        Content(README, readme(parts.manifest).encode()),
        Content(RUNNER, RUNNER_TEXT.encode()),
        *(Content(name, path) for name, path in sorted(parts.model.items(), key=lambda item: item[0] != MODEL)),
        Content(RECIPE, parts.recipe),
        Content(PLAN, parts.plan),
        Content(REPORT, parts.report),
        Content(REPORT_PAGE, parts.page),
        *(Content(name, source) for name, source in optional if source is not None),
    ]
    with written_whole(out) as file:
        write_members(file, parts.manifest, contents)
    return out


class Bundle:
    """An open bundle, every member of which is as it was written.

    `recipe`, `plan` and `report` are the JSON documents of those names. Close it, or use it as a context manager, to
    remove what was unpacked to run it; a bundle that is thrown away does so itself.
    """

    def __init__(self, container: Container) -> None:
        self._container = container
        self._folder: Path | None = None
        self.path = container.path
        self.manifest = container.manifest
        self.recipe = container.read_json(RECIPE)
        self.plan = container.read_json(PLAN)
        self.report = container.read_json(REPORT)
        check_report(self.report, name=container.path.name)
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Bundle {self.manifest.name!r} of {self.manifest.model_name!r}>"

    def close(self) -> None:
        """Removes what was unpacked; the bundle cannot be run any more."""
        self._closed = True
        self.__dict__.pop("_session", None)
        self._container.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def run(self, feeds: Mapping[str, ArrayLike]) -> dict[str, Any]:
        """Runs the model once.

        Args:
            feeds: input name -> array of the shape that the model takes.

        Returns:
            output name -> array.

        Raises:
            DataError: an input is missing or unknown, or an array is not what its input takes.
            BundleError: this runtime refuses the model, or the bundle is closed.
            RunError: the runtime failed on these inputs.
        """
        self._refuse_closed()
        session, specs = self._session
        return run_session(session, fitting_feed(specs, feeds))

    def summary(self) -> str:
        """What was gained, at what cost, measured under which conditions, as lines of text."""
        return "\n".join([summarize(self.report), *(f"  here: {note}" for note in self.notes())])

    def notes(self) -> tuple[str, ...]:
        """What to know before the stored speed is expected of this machine; empty where there is nothing."""
        missing = missing_here(self.manifest.rests_on, cpu_features())
        return (missing,) if missing else ()

    @property
    def model_path(self) -> Path:
        """`model.onnx`, unpacked with its weights beside it; it goes when the bundle is closed."""
        self._refuse_closed()
        return self._unpacked / MODEL

    @property
    def model_bytes(self) -> bytes:
        """The content of `model.onnx`; weights in other files are not in it."""
        self._refuse_closed()
        return self._container.read(MODEL)

    @property
    def files(self) -> dict[str, Path]:
        """`model.onnx` and the files with its weights, unpacked."""
        self._refuse_closed()
        return {name: self._unpacked / name for name in model_members(self.manifest)}

    def member_path(self, name: str) -> Path | None:
        """An optional member (`holdout.npz`, `original.onnx`), unpacked apart from the model; None where left out."""
        self._refuse_closed()
        if not self._container.has(name):
            return None
        path = self._unpacked / "beside" / name
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            self._container.unpack([name], path.parent)
        return path

    def load_model(self) -> Model:
        """The model, checked as any other file is.

        Raises:
            BundleError: it is no model that can be run here.
        """
        try:
            return load_model(self.model_path, name=self.manifest.name)
        except ModelError as error:
            raise self.refused(error) from error

    def refused(self, error: MixdeskError) -> BundleError:
        """The error of a model that this runtime does not run, naming the runtime that did."""
        runtime = self.manifest.conditions.get("onnxruntime")
        hint = f"It was built and measured with onnxruntime {runtime}." if runtime else None
        return BundleError(f"The model of '{self.path.name}' cannot be run here: {error.message}", hint=hint)

    def _refuse_closed(self) -> None:
        if self._closed:
            raise BundleError(f"The bundle '{self.path.name}' is closed.", hint="Open it again with load_bundle.")

    @cached_property
    def _unpacked(self) -> Path:
        folder = Path(tempfile.mkdtemp(prefix="mixdesk-bundle-"))
        self._folder = folder
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._container.unpack(model_members(self.manifest), folder)
        return folder

    @cached_property
    def _session(self) -> tuple[Session, tuple[TensorSpec, ...]]:
        specs = self.load_model().inputs
        threads = self.manifest.conditions.get("threads")
        settings = SessionSettings(threads=threads if isinstance(threads, int) and threads > 0 else 1)
        try:
            return open_session(self.model_path, settings), specs
        except RunError as error:
            raise self.refused(error) from error


def load_bundle(path: str | Path) -> Bundle:
    """Opens a bundle and checks every member against its hash; no code from it is executed.

    Raises:
        NotFoundError: there is no such file.
        BundleError: no bundle, damaged, altered, of a newer format, or made to harm.
    """
    if not isinstance(path, str | Path):
        raise BundleError(f"A bundle is opened by its path, not by {path!r}.", hint='load_bundle("mixed.o3")')
    return sound(Container(Path(path).expanduser()))


def sound(container: Container) -> Bundle:
    """The bundle of an open container, once every member is as it was written.

    Raises:
        BundleError: one is not; the container is closed then.
    """
    try:
        changes = container.changes()
        if changes:
            raise altered(container.path, changes)
        return Bundle(container)
    except BaseException:
        container.close()
        raise
