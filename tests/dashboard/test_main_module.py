"""`python -m dashboard` says in one line what is wrong with what it was told."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.intake.folders import FOLDERS_VARIABLE, allowed_folders
from dashboard.__main__ import main


def test_a_workspace_that_cannot_be_made_is_told_before_the_server_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("not a folder")
    assert main(["--workspace", str(tmp_path / "file" / "workspace")]) == 2
    told = capsys.readouterr().err
    assert "cannot be made" in told
    assert "--workspace" in told
    assert len(told.splitlines()) == 1


def test_an_unknown_host_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--host", "no such host"]) == 2
    assert "'no such host' is no address to listen on" in capsys.readouterr().err


@pytest.mark.parametrize("port", ["99999", "-1", "http"])
def test_a_port_out_of_range_is_told(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--port", port])
    assert left.value.code == 2
    assert "port" in capsys.readouterr().err


def test_a_folder_that_is_not_there_is_told_before_the_server_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--folder", str(tmp_path / "nothing")]) == 2
    assert "is no folder" in capsys.readouterr().err


def test_folders_are_added_to_those_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    monkeypatch.setenv(FOLDERS_VARIABLE, str(tmp_path / "one"))
    monkeypatch.setattr("dashboard.__main__.create_app", lambda **_: FakeApp())
    assert main(["--workspace", str(tmp_path / "w"), "--folder", str(tmp_path / "two")]) == 0
    assert [folder.name for folder in allowed_folders()] == ["one", "two"]


class FakeApp:
    """Stands for the server."""

    def run(self, **_: object) -> None:
        """Serves nobody."""
