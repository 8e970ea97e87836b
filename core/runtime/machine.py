"""The machine: which processor, what it can execute, how busy it is. Its id tells of hardware, not of its name."""

from __future__ import annotations

import hashlib
import os
import platform
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import onnxruntime as ort
import psutil

from core.runtime.conditions import Conditions
from core.runtime.settings import SessionSettings

_CPUINFO = Path("/proc/cpuinfo")

#: Instruction sets that decide which kernels run, in the order shown. Linux names on the left.
_FEATURES = {
    "sse4_1": "sse4.1",
    "avx": "avx",
    "avx2": "avx2",
    "fma": "fma",
    "f16c": "f16c",
    "avx512f": "avx512f",
    "avx512bw": "avx512bw",
    "avx512_vnni": "avx512_vnni",
    "avx_vnni": "avx_vnni",
    "avx_vnni_int8": "avx_vnni_int8",
    "avx512_bf16": "avx512_bf16",
    "avx512_fp16": "avx512_fp16",
    "amx_tile": "amx_tile",
    "amx_int8": "amx_int8",
    "amx_bf16": "amx_bf16",
    "asimd": "neon",
    "asimdhp": "fp16",
    "asimddp": "dotprod",
    "i8mm": "i8mm",
    "bf16": "bf16",
    "sve": "sve",
    "sme": "sme",
}


def read_conditions(settings: SessionSettings, *, batch: int = 1, seed: int = 0) -> Conditions:
    """What a measurement made now, with these settings, is measured under."""
    return Conditions(
        machine=machine_id(),
        cpu=cpu_name(),
        cores=core_count(),
        features=cpu_features(),
        os=f"{platform.system()} {platform.release()} {platform.machine()}",
        python=platform.python_version(),
        onnxruntime=ort.__version__,
        provider=settings.provider,
        threads=settings.threads,
        batch=batch,
        load_average=round(psutil.getloadavg()[0], 2),
        seed=seed,
        time=datetime.now(UTC).isoformat(timespec="seconds"),
    )


@cache
def machine_id() -> str:
    """Twelve hex digits that equal machines share: processor, features, cores, kind of system; not the host name."""
    parts = (cpu_name(), ",".join(cpu_features()), str(core_count()), platform.system(), platform.machine())
    return hashlib.sha256("|".join(parts).encode()).hexdigest()[:12]


@cache
def cpu_name() -> str:
    """The processor's model name, or its architecture where the system does not tell."""
    fields = _read_cpuinfo()
    return fields.get("model name") or fields.get("hardware") or platform.processor() or platform.machine()


@cache
def cpu_features() -> tuple[str, ...]:
    """Instruction sets that decide which kernels run; empty where the system does not tell."""
    fields = _read_cpuinfo()
    flags = set((fields.get("flags") or fields.get("features") or "").split())
    return tuple(shown for flag, shown in _FEATURES.items() if flag in flags)


def core_count() -> int:
    """Logical processors of the machine."""
    return os.cpu_count() or 1


@cache
def _read_cpuinfo() -> dict[str, str]:
    """Fields of the first processor, keys in lower case; empty where there is no such file."""
    if not _CPUINFO.exists():
        return {}
    first = _CPUINFO.read_text(errors="replace").split("\n\n")[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return {key.strip().lower(): value.strip() for key, _, value in pairs}
