"""Pages with faked services: what they answer, what was asked of them, and how a test reads what is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.store.rows import CandidateRow, DatasetRow, ModelRow, now
from dashboard import services
from tests.dashboard.documents import inspect_document, machine_document

PAGES = Path(__file__).parents[2] / "dashboard" / "app_pages"
SHA = "ab" * 32
MODEL = ModelRow(sha256=SHA, name="digits-cnn", size_bytes=1, origin="sample", created_at=now())
DATA = DatasetRow(sha256="cd" * 32, model_sha256=SHA, name="d", size_bytes=1, synthetic=False, created_at=now())


@dataclass
class Desk:
    """What the faked services answer, and what was asked of them."""

    inspection: dict[str, Any]
    profile: dict[str, Any] | None = None
    machine: dict[str, Any] | None = field(default_factory=machine_document)
    candidates: tuple[CandidateRow, ...] = ()
    draft: dict[str, Any] | None = None
    submitted: list[tuple[str, dict[str, Any]]] = field(default_factory=list)


def _note_of(desk: Desk, kind: str, *_: Any, **params: Any) -> str:
    return _note(desk, kind, params)


def candidate(document: dict[str, Any]) -> CandidateRow:
    report = {"recipe": document["recipe"], "plan": document["plan"], "report": document}
    return CandidateRow(id="c1", model_sha256=SHA, file_sha256="ef" * 32, name="mine", **report)


def _note(desk: Desk, kind: str, params: dict[str, Any]) -> str:
    desk.submitted.append((kind, params))
    return "j1"


def faked(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Desk]:
    """Makes a desk whose services answer with these documents."""

    def make(layers: int = 30, **documents: Any) -> Desk:
        desk = Desk(inspect_document(layers), **documents)
        answers: dict[str, Callable[..., Any]] = {
            "subject": lambda: services.Subject(model=MODEL, data=DATA),
            "inspection": lambda _: desk.inspection,
            "ensure_inspected": lambda _: None,
            "profile": lambda _: desk.profile,
            "machine": lambda: desk.machine,
            "candidates": lambda _: desk.candidates,
            "current_candidate": lambda _: desk.candidates[0] if desk.candidates else None,
            "build": lambda _: desk.candidates[0].report,
            "draft": lambda _: desk.draft,
            "save_draft": lambda _, recipe: setattr(desk, "draft", dict(recipe)),
            "submit_build": lambda _, recipe, **rest: _note(desk, "build", {"recipe": recipe, **rest}),
            "submit_optimize": partial(_note_of, desk, "optimize"),
            "submit_profile": partial(_note_of, desk, "profile"),
        }
        for name, answer in answers.items():
            monkeypatch.setattr(services, name, answer)
        return desk

    return make


def run(page: str) -> AppTest:
    app = AppTest.from_file(str(PAGES / f"{page}.py"), default_timeout=30).run()
    assert not app.exception, app.exception
    return app


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception, app.exception
    return app


def below(app: AppTest, key: str) -> str:
    """The error that stands right below the field of this key."""
    assert not app.exception, app.exception
    elements = list(_leaves(app.main))
    at = next(place for place, each in enumerate(elements) if getattr(each, "key", None) == key)
    found = elements[at + 1]
    assert found.type == "error", f"below '{key}' is {found.type}"
    return str(found.value).replace("\\", "")


def _leaves(block: Any) -> Iterator[Any]:
    for child in block.children.values():
        if hasattr(child, "children"):
            yield from _leaves(child)
        else:
            yield child


def texts(app: AppTest) -> str:
    found = [*app.markdown, *app.caption, *app.warning, *app.error, *app.success, *app.info]
    return "\n".join(str(element.value) for element in found).replace("\\", "")
