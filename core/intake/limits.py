"""Limits: the newest format and operator sets that can be read and run here. Newer models are refused, never lowered.

The numbers are those of the onnxruntime this version is built with (a test asks the installed one); an older `onnx`
package narrows them further.
"""

from __future__ import annotations

from collections.abc import Iterator

import onnx

from core.intake.model import Finding

NEWEST_IR = 14
NEWEST_OPSETS = {
    "": 28,
    "ai.onnx.ml": 5,
    "ai.onnx.preview": 1,
    "ai.onnx.preview.training": 1,
    "ai.onnx.training": 1,
    "com.microsoft": 1,
    "com.microsoft.nchwc": 1,
    "com.microsoft.experimental": 1,
}
#: Below this the runtime promises nothing; many operators have no kernel.
OLDEST_PROMISED_OPSET = 7
_EXPORT_OLDER = "Export the model again with an older target."


def newest_ir() -> int:
    """The newest file format that both the runtime and the installed `onnx` know."""
    return min(NEWEST_IR, int(onnx.IR_VERSION))


def newest_opset(domain: str) -> int | None:
    """The newest operator set of a domain that can be run here; None where the domain is not the runtime's own."""
    newest = NEWEST_OPSETS.get(domain)
    return min(newest, onnx.defs.onnx_opset_version()) if newest is not None and domain == "" else newest


def check_versions(proto: onnx.ModelProto) -> Iterator[Finding]:
    """Yields an error for each version that is newer than the runtime, and a warning for an outdated operator set."""
    if proto.ir_version > newest_ir():
        message = f"The file format (IR version {proto.ir_version}) is newer than this runtime knows ({newest_ir()})."
        yield Finding("error", message, f"{_EXPORT_OLDER} IR version {newest_ir()} is the newest that works here.")
    if not proto.opset_import:
        yield Finding("error", "The file does not say which operator set it uses.", "Export the model again.")
    for opset in proto.opset_import:
        domain = canonical(opset.domain)
        newest = newest_opset(domain)
        if newest is not None and opset.version > newest:
            name = domain or "ai.onnx"
            message = f"Operator set {opset.version} of {name} is newer than this runtime knows ({newest})."
            yield Finding("error", message, f"{_EXPORT_OLDER} Operator set {newest} is the newest that works here.")
        elif domain == "" and opset.version < OLDEST_PROMISED_OPSET:
            message = (
                f"Operator set {opset.version} is older than the runtime promises to run ({OLDEST_PROMISED_OPSET})."
            )
            yield Finding("warning", message, "Export the model again with a newer operator set.")


def canonical(domain: str) -> str:
    """The domain of ONNX's own operators has two spellings; this is the short one."""
    return "" if domain == "ai.onnx" else domain
