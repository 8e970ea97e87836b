"""The whole zoo through the command line: what crashes, what is slower, how much of each model could be lowered.

    python -m benchmarks.zoo [NAME ...] [--seconds 20] [--measure 3] [--json FILE] [--workspace DIR]

Every model is inspected, profiled, built in int8 and optimized, each command a process of its own. A model that is
broken on purpose must be refused by all of them with exit status 2 and one line. Ends with 1 where anything crashed,
was refused without reason, or came out slower than its original beyond the interval.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
_TIMEOUT_S = 900
#: Models whose data is in the file of another one, since they are its variants.
_DATA_OF = dict.fromkeys(("efficientnet_lite0_qdq_pc", "efficientnet_lite0_qoperator"), "efficientnet_lite0")


@dataclass(frozen=True, slots=True)
class Answer:
    """What one command answered."""

    status: int
    seconds: float
    document: Mapping[str, Any]
    errors: str

    @property
    def line(self) -> str:
        """The error's sentence, empty where there is none."""
        error = self.document.get("error")
        return str(error["message"]) if error else ""


@dataclass(slots=True)
class Row:
    """One model of the table; ratios and decibels are absent where a step did not come that far."""

    name: str
    expected: str
    status: str = "as expected"
    seconds: dict[str, float] = field(default_factory=dict)
    layers: int | None = None
    lowered: int | None = None
    built_ratio: float | None = None
    built_db: float | None = None
    ratio: float | None = None
    ci95: list[float] | None = None
    sqnr_db: float | None = None
    agreement: float | None = None
    unchanged: bool | None = None
    why: str = ""
    problems: list[str] = field(default_factory=list)


def main() -> int:
    """Runs what the command line of this script asks for."""
    options = _options()
    zoo = Path(os.environ.get("MIXDESK_ZOO") or ROOT.parent / "shared" / "zoo")
    entries = json.loads((zoo / "index.json").read_text(encoding="utf-8"))
    chosen = [entry for entry in entries if not options.names or entry["name"] in options.names]
    with tempfile.TemporaryDirectory() as scratch:
        workspace = options.workspace or Path(scratch) / "workspace"
        photos = _prepare(zoo, Path(scratch)) if any("efficientnet" in entry["name"] for entry in chosen) else None
        rows = []
        for entry in chosen:
            rows.append(_run(entry, zoo, photos, workspace, options))
            print(_line(rows[-1]), file=sys.stderr, flush=True)
            _keep(rows, options)
    print(_table(rows))
    failed = [row for row in rows if row.problems]
    print(f"{len(rows)} models, {len(failed)} with problems")
    for row in failed:
        print(f"  {row.name}: {'; '.join(row.problems)}")
    return 1 if failed else 0


def _keep(rows: Sequence[Row], options: argparse.Namespace) -> None:
    """Writes what is known so far: a run that is ended early has not been in vain."""
    if options.json:
        document = {"models": [asdict(row) for row in rows], "seconds_of_search": options.seconds}
        options.json.write_text(json.dumps(document, indent=1), encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.zoo", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="models of the zoo; default: all")
    parser.add_argument("--seconds", type=float, default=20.0, help="time budget of each search")
    parser.add_argument("--measure", type=float, default=3.0, help="time budget of the comparison of each int8 build")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows as JSON")
    parser.add_argument(
        "--workspace", type=Path, metavar="DIR", help="keep the results there; default: a temporary one"
    )
    return parser.parse_args()


def _prepare(zoo: Path, scratch: Path) -> Path:
    """The photos as arrays, made by the zoo's own script."""
    subprocess.run([sys.executable, str(zoo / "prepare.py"), str(scratch)], check=True)
    return scratch / "efficientnet_lite0.npz"


def _run(entry: Mapping[str, Any], zoo: Path, photos: Path | None, workspace: Path, options: argparse.Namespace) -> Row:
    model = str(zoo / entry["file"])
    row = Row(entry["name"], entry["status"])
    common = ["--workspace", str(workspace), *_data(entry, zoo, photos)]
    steps = {
        "inspect": [model, *common],
        "profile": [model, *common],
        "build": [model, *common, "--precision", "int8", "--time-budget", str(options.measure)],
        "optimize": [model, *common, "--time-budget", str(options.seconds)],
    }
    for step, arguments in steps.items():
        answer = _ask(step, arguments)
        row.seconds[step] = round(answer.seconds, 2)
        _judge(row, step, answer)
    if row.problems:
        row.status = "problem"
    elif row.expected == "bad":
        row.status = "refused"
    return row


def _data(entry: Mapping[str, Any], zoo: Path, photos: Path | None) -> list[str]:
    if "efficientnet" in entry["name"] and photos is not None:
        return ["--data", str(photos)]
    named = entry.get("data") or f"data/{_DATA_OF.get(entry['name'], entry['name'])}.npz"
    return ["--data", str(zoo / named)] if (zoo / named).is_file() else []


def _ask(step: str, arguments: Sequence[str]) -> Answer:
    started = time.perf_counter()
    command = [sys.executable, "-m", "core.cli", step, *arguments, "--json"]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, cwd=ROOT, check=False)
        status, out, errors = ended.returncode, ended.stdout, ended.stderr
    except subprocess.TimeoutExpired:
        status, out, errors = -1, "", f"no answer after {_TIMEOUT_S} s"
    try:
        document = json.loads(out)
    except ValueError:
        document = {}
    return Answer(status, time.perf_counter() - started, document, errors)


def _judge(row: Row, step: str, answer: Answer) -> None:
    if "Traceback" in answer.errors or not answer.document:
        row.problems.append(f"{step}: crashed ({answer.status}) {answer.errors.strip()[-200:]}")
    elif row.expected == "bad":
        _judge_refusal(row, step, answer)
    elif answer.status not in ((0,) if step != "optimize" else (0, 1)):
        row.problems.append(f"{step}: status {answer.status}: {answer.line}")
    else:
        _READ[step](row, answer.document)


def _judge_refusal(row: Row, step: str, answer: Answer) -> None:
    """A broken model is refused with one line; `inspect` may instead show the reason, where the file parses."""
    findings = [found for found in answer.document.get("findings", ()) if found["severity"] == "error"]
    if step == "inspect" and answer.status == 0 and findings:
        row.why = str(findings[0]["message"])
    elif answer.status != 2 or not answer.line or "\n" in answer.line:
        row.problems.append(f"{step}: status {answer.status} instead of 2: {answer.line!r}")
    else:
        row.why = row.why or answer.line


def _read_inspect(row: Row, document: Mapping[str, Any]) -> None:
    row.layers = document["model"]["layer_count"]
    errors = [found["message"] for found in document["findings"] if found["severity"] == "error"]
    if errors:
        row.problems.append(f"inspect: {errors[0]}")


def _read_profile(row: Row, document: Mapping[str, Any]) -> None:
    if document["kernel_ms"] and document["attributed_share"] < 0.98:
        row.problems.append(f"profile: only {document['attributed_share']:.1%} attributed")


def _read_build(row: Row, document: Mapping[str, Any]) -> None:
    unexplained = [
        layer["id"] for layer in document["layers"] if layer["requested"] != layer["produced"] and not layer["why"]
    ]
    if unexplained:
        row.problems.append(f"build: no reason for {', '.join(unexplained[:3])}")
    row.built_db = document["fidelity"]["sqnr_db"]
    if document.get("comparison"):
        row.built_ratio = document["comparison"]["ratio"]["latency"]["value"]


def _read_optimize(row: Row, document: Mapping[str, Any]) -> None:
    row.ratio, row.ci95 = document["speedup"]["ratio"], document["speedup"]["ci95"]
    row.sqnr_db, row.agreement = document["fidelity"]["sqnr_db"], document["fidelity"]["agreement"]
    row.unchanged, row.why = document["unchanged"], document["why"] or ""
    row.lowered = sum(layer["executed"] == "int8" for layer in document["layers"])
    if row.ci95 and row.ci95[1] < 1.0:
        row.problems.append(f"optimize: slower than its original, {row.ratio:.2f} {row.ci95}")


_READ = {"inspect": _read_inspect, "profile": _read_profile, "build": _read_build, "optimize": _read_optimize}


def _line(row: Row) -> str:
    return f"{row.name}: {row.status} {sum(row.seconds.values()):.0f} s {'; '.join(row.problems)}"


def _table(rows: Sequence[Row]) -> str:
    lines = [
        "| model | status | seconds | int8 build | optimized [95 %] | fidelity | int8 layers | why |",
        "|---|---|--:|--:|--:|--:|--:|---|",
    ]
    for row in rows:
        built = f"{_number(row.built_ratio, 'x', 2)} {_number(row.built_db, ' dB', 1)}" if row.expected == "ok" else ""
        speed = (
            "" if row.ratio is None or row.ci95 is None else f"{row.ratio:.2f}x [{row.ci95[0]:.2f}, {row.ci95[1]:.2f}]"
        )
        speed = "unchanged" if row.unchanged else speed
        layers = "" if row.layers is None or row.lowered is None else f"{row.lowered} of {row.layers}"
        why = row.why.replace("|", "/")[:110]
        seconds = sum(row.seconds.values())
        fidelity = _number(row.sqnr_db, " dB", 1)
        lines.append(
            f"| {row.name} | {row.status} | {seconds:.0f} | {built} | {speed} | {fidelity} | {layers} | {why} |"
        )
    return "\n".join(lines)


def _number(value: float | None, unit: str, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}{unit}"


if __name__ == "__main__":
    sys.exit(main())
