"""Files that are no usable model, and names that look like markup, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import onnx
import onnx.parser
import pytest
from playwright.sync_api import Page, expect

from tests.bad_models import BAD, GOOD
from tests.browser.conftest import PATIENCE_MS

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

Visit = Callable[..., Page]

WORK_MS = 5 * PATIENCE_MS
#: Names of layers that a browser, Markdown or a chart would obey if they were not escaped.
NAMES = (
    "<img src=x onerror='window.obeyed=1'>",
    "</script><script>window.obeyed=1</script>",
    "**bold** :red[red] [link](javascript:window.obeyed=1) $x^2$",
)


def upload(page: Page, path: Path) -> None:
    """Drops a file where a first visitor would."""
    page.locator("input[type=file]").first.set_input_files(str(path))


def test_each_is_told_in_one_sentence_and_the_former_model_stays_usable(open_page: Visit, tmp_path: Path) -> None:
    good = tmp_path / "good.onnx"
    onnx.save(onnx.parser.parse_model(GOOD), good)
    page = open_page()
    upload(page, good)
    expect(page.get_by_text("Activation peak")).to_be_visible()
    link = page.url
    for what in ("text file", "cycle", "missing external data", "zip slip"):
        page.get_by_role("button", name="Open another model").click()
        page.locator("input[type=file]").last.set_input_files(str(BAD[what].make(tmp_path / what)))
        expect(page.get_by_text(BAD[what].said_on_page).first).to_be_visible(timeout=WORK_MS)
        expect(page.get_by_text("Traceback")).to_have_count(0)
        page.goto(link)
        expect(page.get_by_text("Activation peak")).to_be_visible()
        expect(page.get_by_text(BAD[what].said_on_page)).to_have_count(0)


def test_names_of_layers_are_shown_as_they_are_and_never_obeyed(open_page: Visit, tmp_path: Path) -> None:
    model = onnx.parser.parse_model("""
    <ir_version: 8, opset_import: ["" : 17]>
    net (float[n, 4] x) => (float[n, 4] y) { a = Relu (x)  b = Tanh (a)  y = Neg (b) }
    """)
    for node, name in zip(model.graph.node, NAMES, strict=True):
        node.name = name
    path = tmp_path / "names.onnx"
    onnx.save(model, path)
    page = open_page()
    page.on("dialog", lambda dialog: dialog.dismiss())
    upload(page, path)
    expect(page.get_by_text("Activation peak")).to_be_visible()
    page.get_by_role("link", name="Profile").click()
    page.get_by_role("button", name="Profile", exact=True).click()
    expect(page.get_by_role("button", name="Profile again")).to_be_visible(timeout=WORK_MS)
    expect(page.get_by_text(re.compile(r"<img src.*obeyed=1")).first).to_be_visible()
    for tab in ("Modules", "Timeline", "Roofline", "Memory", "Layers"):
        page.get_by_role("tab", name=tab).click()
    page.locator(".js-plotly-plot").first.hover()
    not_obeyed(page)
    page.get_by_role("link", name="Mix").click()
    expect(page.get_by_role("button", name="Build and measure")).to_be_visible()
    not_obeyed(page)


def not_obeyed(page: Page) -> None:
    """Nothing of a name became an element, a link or a program in any frame."""
    for frame in page.frames:
        assert frame.evaluate("window.obeyed === undefined")
        assert frame.locator("img[src='x']").count() == 0
        assert frame.locator("a[href^='javascript']").count() == 0
    assert page.locator("strong", has_text="bold").count() == 0
