"""Sessions: how a model is opened and run, with the runtime's many failures told in one line."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
from onnxruntime.capi import onnxruntime_pybind11_state as ort_state

from core.errors import RunError, UnavailableError
from core.intake.serialized import Openable, Serialized
from core.runtime.settings import CPU, SessionSettings

Feed = Mapping[str, np.ndarray]
Session = ort.InferenceSession

#: onnxruntime logs to standard error on its own; 4 (fatal) keeps it silent, failures still raise.
SILENT = 4

#: Every exception onnxruntime's binding raises; they share no base but `Exception`.
RUNTIME_FAILURES: tuple[type[Exception], ...] = (
    ort_state.EPFail,
    ort_state.EngineError,
    ort_state.Fail,
    ort_state.InvalidArgument,
    ort_state.InvalidGraph,
    ort_state.InvalidProtobuf,
    ort_state.ModelLoadCanceled,
    ort_state.ModelLoaded,
    ort_state.ModelRequiresCompilation,
    ort_state.NoModel,
    ort_state.NoSuchFile,
    ort_state.NotFound,
    ort_state.NotImplemented,
    ort_state.RuntimeException,
    RuntimeError,
    ValueError,
    TypeError,
    MemoryError,
)

_PREFIX = re.compile(r"^\[ONNXRuntimeError\] : \d+ : [A-Z_]+ : ")
_LOADING = re.compile(r"^(?:Load model from .*? (?=Unsupported|ONNX Runtime)|Load model from .*? ?failed:)")
_SOURCE_PLACE = re.compile(r"\S*\.(?:cc|h):\d+ (?:[\w:~<>&*, ]+\([^)]*\)(?: const)? )?")
_PATH = re.compile(r"(?<![\w.])(?:/[\w.+@%-]+){2,}/([\w.+@%-]+)")
_LONGEST = 400
#: The file that takes the weights of a saved optimized graph: a link to where nothing is kept.
_NOWHERE = "nowhere"


def open_session(
    model: Openable,
    settings: SessionSettings,
    *,
    optimized_path: Path | None = None,
    profile_prefix: Path | None = None,
    timed: bool = True,
) -> ort.InferenceSession:
    """Opens a session: sequential, silent, every optimization on, as in real runs.

    Args:
        model: a serialized ModelProto, its file, or its bytes beside files of weights, which the runtime then maps.
        settings: threads, provider and spinning.
        optimized_path: where the runtime saves the graph it really runs.
        profile_prefix: turns the runtime's profiler on; its JSON file starts with this path.
        timed: whether anybody will look at its speed. If not, weights that lie in other files stay mapped: the runtime
            makes no second copy of them in the order that its kernels like best.

    Raises:
        RunError: the runtime refuses the model; the message is its reason in one line.
        UnavailableError: this machine has no such execution provider.
    """
    if settings.provider not in ort.get_available_providers():
        message = f"This machine has no execution provider {settings.provider}."
        raise UnavailableError(message, hint=f"Available: {', '.join(ort.get_available_providers())}.")
    options = _options(settings, optimized_path, profile_prefix)
    if isinstance(model, Serialized):
        _find_weights(options, model.folder, optimized_path)
        if model.folder is not None and not timed:
            options.add_session_config_entry("session.disable_prepacking", "1")
    alone = settings.provider == CPU or not settings.fallback
    providers = [settings.provider] if alone else [settings.provider, CPU]
    try:
        return ort.InferenceSession(_given(model), options, providers)
    except RUNTIME_FAILURES as error:
        raise RunError(f"onnxruntime cannot open the model: {reason_of(error)}", hint=_hint(error)) from error


def run_session(session: ort.InferenceSession, feed: Feed, outputs: Sequence[str] | None = None) -> dict[str, Any]:
    """Runs once and returns output name -> value (arrays; lists or maps where the model says so).

    Raises:
        RunError: the runtime failed on this feed; the message is its reason in one line.
    """
    names = [output.name for output in session.get_outputs()] if outputs is None else list(outputs)
    try:
        return dict(zip(names, session.run(names, dict(feed)), strict=True))
    except RUNTIME_FAILURES as error:
        raise RunError(f"onnxruntime failed to run the model: {reason_of(error)}", hint=_hint(error)) from error


def reason_of(error: Exception) -> str:
    """The runtime's reason in one line, without its error code, source places and machine paths."""
    text = " ".join(str(error).split())
    text = _LOADING.sub("", _PREFIX.sub("", text))
    text = _PATH.sub(r"\1", _SOURCE_PLACE.sub("", text)).strip()
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"


def _options(settings: SessionSettings, optimized: Path | None, profile: Path | None) -> ort.SessionOptions:
    options = ort.SessionOptions()
    options.log_severity_level = SILENT
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.intra_op_num_threads = settings.threads
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "1" if settings.spinning else "0")
    if not settings.fallback:
        options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    if optimized is not None:
        options.optimized_model_filepath = os.fspath(optimized)
    if profile is not None:
        options.enable_profiling = True
        options.profile_file_prefix = os.fspath(profile)
    return options


def _given(model: Openable) -> bytes | str:
    if isinstance(model, Serialized):
        return model.data
    return os.fspath(model) if isinstance(model, Path) else model


def _find_weights(options: ort.SessionOptions, folder: Path | None, optimized: Path | None) -> None:
    """Says where a model's files of weights lie, and keeps the weights out of the optimized graph that is saved.

    Only that graph's structure is read again; with the weights in it, it would exceed what one file can hold.
    """
    if folder is None:
        return
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", os.fspath(folder))
    if optimized is None:
        return
    options.add_session_config_entry("session.optimized_model_external_initializers_file_name", _NOWHERE)
    options.add_session_config_entry("session.optimized_model_external_initializers_min_size_in_bytes", "1024")
    with contextlib.suppress(OSError, NotImplementedError):  # where no link can be made, a real file is written
        (optimized.parent / _NOWHERE).symlink_to(os.devnull)


def _hint(error: Exception) -> str | None:
    text = str(error)
    if isinstance(error, MemoryError) or "bad_alloc" in text or "Failed to allocate" in text:
        return "There is not enough memory for this run: try a smaller batch or a smaller input shape."
    if isinstance(error, ort_state.NotImplemented) or "NOT_IMPLEMENTED" in text:
        return "This machine's runtime has no kernel for that operator and element type."
    if "Type Error" in text:
        return "The runtime has that operator for other element types only; export the model in another one."
    if "Non-zero status code returned while running" in text:
        return "Look at the values and shapes that reach this layer."
    if "ShapeInferenceError" in text or "TypeInferenceError" in text:
        return "The file does not fit together; export the model again."
    if isinstance(error, ort_state.InvalidArgument):
        return "Compare the names, element types and shapes of the data with the model's inputs."
    return None


ort.set_default_logger_severity(SILENT)
