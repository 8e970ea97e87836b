"""One call from arguments to exit status: usage errors, what is not there yet, and failures that nobody expected."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from core.cli import work
from tests.cli.running import Terminal

USAGE_ERRORS = [
    (("profil", "x"), "Did you mean 'profile'?"),
    (("profile",), "MODEL"),
    (("profile", "x", "--tread", "1"), "There is no option '--tread'. Did you mean '--threads'?"),
    (("profile", "x", "--threads", "0"), "--threads"),
    (("profile", "x", "--threads", "two"), "--threads"),
    (("profile", "x", "--seed", "-1"), "--seed"),
    (("profile", "x", "--time-budget", "0"), "--time-budget"),
    (("profile", "x", "--shape", "x"), "'x' is not a shape."),
    (("profile", "x", "--shape", "x=1xtwo"), "'x=1xtwo' is not a shape."),
    (("profile", "a", "b"), "b"),
    (("compare", "a"), "B"),
    (("build", "x"), "Say either --precision P or --recipe R.json."),
    (("build", "x", "--precision", "int8", "--recipe", "r.json"), "Say either"),
    (("build", "x", "--precision", "int9"), "There is no precision 'int9'. Did you mean 'int8'?"),
    (("build", "x", "--precision", "int8", "--pin", "conv1"), "'conv1' is not a pin."),
    (("build", "x", "--precision", "int8", "--no-measure", "--target", "sqnr>=30"), "--target needs the measurement."),
    (("optimize", "x", "--objective", "sise"), "Did you mean 'size'?"),
    (("optimize", "x", "--cache", "everything"), "There is no cache strategy 'everything'."),
    (("jobs", "shwo"), "Did you mean 'show'?"),
]

NOT_YET = [
    ("sensitivity", "digits-cnn", "--mode", "solo"),
    ("sensitivity",),
    ("optimize", "x", "--cache", "session"),
    ("optimize", "x", "--cache", "result"),
    ("optimize", "x", "--objective", "size"),
    ("optimize", "x", "--objective", "memory"),
    ("optimize", "x", "--objective", "energy"),
    ("optimize", "x", "--objective", "fidelity"),
    ("optimize", "x", "--precision", "fp16"),
    ("build", "x", "--precision", "fp16"),
    ("build", "x", "--precision", "int4-weights"),
    ("build", "x", "--precision", "int8", "--pin", "conv1=bf16"),
]


@pytest.mark.parametrize(("arguments", "says"), USAGE_ERRORS)
def test_a_wrong_call_is_one_sentence_and_status_2(mixdesk: Terminal, arguments: tuple[str, ...], says: str) -> None:
    plain = mixdesk(*arguments)
    assert plain.status == 2
    assert plain.out == ""
    assert says in plain.err.splitlines()[0]
    asked_in_json = mixdesk(*arguments, "--json")
    assert asked_in_json.status == 2
    assert says in asked_in_json.error["message"]


@pytest.mark.parametrize("arguments", NOT_YET)
def test_what_later_versions_bring_is_refused_with_status_2_and_a_sentence(
    mixdesk: Terminal, arguments: tuple[str, ...]
) -> None:
    answer = mixdesk(*arguments, "--json")
    assert answer.status == 2
    assert answer.error["kind"] == "unavailable"
    assert re.search("not in this version yet|not built by this version", answer.error["message"])
    assert mixdesk(*arguments).err.startswith("mixdesk: ")


def test_no_command_shows_the_help_and_is_a_wrong_call(mixdesk: Terminal) -> None:
    answer = mixdesk()
    assert answer.status == 2
    assert "A command is missing." in answer.err
    assert "optimize" in answer.err


@pytest.mark.parametrize("arguments", [("--help",), ("-h",), ("optimize", "--help"), ("jobs", "-h")])
def test_help_is_an_answer(mixdesk: Terminal, arguments: tuple[str, ...]) -> None:
    answer = mixdesk(*arguments)
    assert answer.status == 0
    assert "Usage: mixdesk" in answer.out


def test_help_says_that_a_model_may_be_a_samples_name(mixdesk: Terminal) -> None:
    assert "sample's name" in " ".join(mixdesk("inspect", "--help").out.split())


def test_version_is_told(mixdesk: Terminal) -> None:
    assert re.fullmatch(r"mixdesk \d+\.\d+\.\d+\S*\n", mixdesk("--version").out)


def test_a_defect_is_one_sentence_with_the_name_of_a_log(
    mixdesk: Terminal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tiny: Path
) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr(work, "run_job", broken)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    answer = mixdesk("profile", str(tiny), "--json")
    assert answer.status == 3
    assert "ZeroDivisionError: a defect" in answer.error["message"]
    log = Path(re.search(r"\S+\.log", answer.error["hint"])[0])  # type: ignore[index]
    assert "Traceback" in log.read_text()


@pytest.mark.parametrize("as_json", [True, False])
def test_ctrl_c_is_told_as_stopped(
    mixdesk: Terminal, monkeypatch: pytest.MonkeyPatch, tiny: Path, as_json: bool
) -> None:
    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(work, "run_job", interrupted)
    answer = mixdesk("profile", str(tiny), *(["--json"] if as_json else []))
    assert answer.status == 3
    assert answer.error["kind"] == "stopped" if as_json else answer.err.startswith("mixdesk: Stopped.")


def test_nothing_heavy_is_imported_before_a_command_runs() -> None:
    heavy = "('numpy', 'onnx', 'onnx_ir', 'onnxruntime', 'sqlalchemy', 'rich', 'streamlit', 'scipy', 'igraph')"
    program = (
        "import sys; from core.cli import main; status = main(['--help']); "
        f"print([name for name in {heavy} if name in sys.modules], file=sys.stderr); sys.exit(status)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize("command", ["inspect", "profile", "optimize", "verify"])
def test_a_name_that_no_file_can_have_is_a_wrong_request(mixdesk: Terminal, command: str) -> None:
    said = mixdesk(command, "x" * 5000, "--json")
    assert said.status == 2
    assert "too long" in said.document["error"]["message"]
    assert len(said.document["error"]["message"]) < 200


def test_a_target_that_cannot_be_read_is_refused_before_anything_is_queued(mixdesk: Terminal, tiny: Path) -> None:
    assert mixdesk("optimize", str(tiny), "--target", "acuracy>=99%", "--json").status == 2
    assert mixdesk("jobs", "list", "--json").document["jobs"] == []
