"""The map of the Profile page in a browser: a click is framed, modules open and collapse, a look from near."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import pytest
from playwright.sync_api import Locator, Page, expect

from benchmarks.deep_model import write_deep_model
from core.cli.files import find_model, subject_params
from core.cli.request import Request
from core.jobs import queue
from core.store.rows import JobState
from core.store.workspace import Workspace
from tests.browser.conftest import Server

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

LAYERS = 502
WORK_S = 300.0

Visit = Callable[..., Page]


@pytest.fixture(scope="module")
def link(server: Server, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of a profiled model of some hundred layers, on the server of this module."""
    path = tmp_path_factory.mktemp("deep") / "deep.onnx"
    assert write_deep_model(path, LAYERS) == LAYERS
    with Workspace.open(server.workspace) as workspace:
        params = {
            **subject_params(workspace, find_model(str(path)), None, Request()),
            "threads": 1,
            "batch": 1,
            "seed": 0,
        }
        for kind in ("inspect", "profile"):
            job = queue.submit(workspace, kind, params, title=f"{kind} deep")
            done = queue.wait(workspace, job, poll_s=0.2, timeout_s=WORK_S)
            assert done.state is JobState.DONE, done.error
    return f"/profile?model={params['model'][:12]}&data=synthetic"


def cells(page: Page) -> Locator:
    return page.locator(".st-key-profile-map .barlayer .point path")


def click(page: Page, at: int) -> None:
    """Clicks the middle of a cell; what hears it is a layer above all cells."""
    box = cells(page).nth(at).bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def frame(page: Page) -> Locator:
    return page.locator(".st-key-profile-map [data-testid=chosen-frame]")


def around(outer: Locator, inner: Locator) -> bool:
    """Whether the middle of one thing lies in another."""
    box, cell = outer.bounding_box(), inner.bounding_box()
    if box is None or cell is None:
        return False  # the chart is being drawn
    x, y = cell["x"] + cell["width"] / 2, cell["y"] + cell["height"] / 2
    return box["x"] <= x <= box["x"] + box["width"] and box["y"] <= y <= box["y"] + box["height"]


def wait_until(page: Page, holds: Callable[[], bool], *, tries: int = 100) -> None:
    for _ in range(tries):
        if holds():
            return
        page.wait_for_timeout(100)
    pytest.fail("the frame never came to the cell that was clicked")


def choose_detail(page: Page, label: str) -> None:
    page.locator(".st-key-profile-detail input").click()
    page.get_by_role("option", name=re.compile(label)).click()


def settled(page: Page) -> None:
    """Waits until the former chart is gone: Streamlit keeps it beside the new one until the run is over."""
    expect(page.locator(".st-key-profile-map .js-plotly-plot")).to_have_count(1)
    expect(page.locator("[data-testid=stApp][data-test-script-state=running]")).to_have_count(0)


def test_a_click_on_a_layer_chooses_it_and_frames_it_in_the_same_map(open_page: Visit, link: str) -> None:
    page = open_page(link, height=1400)
    expect(cells(page).first).to_be_visible()
    choose_detail(page, "^All")
    expect(cells(page)).to_have_count(LAYERS)
    settled(page)
    page.evaluate("document.querySelector('.st-key-profile-map .js-plotly-plot').dataset.same = 'yes'")
    for at in (40, 200):
        click(page, at)
        expect(frame(page)).to_be_visible()
        expect(page.get_by_role("button", name="Clear", exact=True)).to_be_visible()
        page.wait_for_function("() => location.search.includes('layer=')")
        wait_until(page, partial(around, frame(page), cells(page).nth(at)))
    assert page.locator(".st-key-profile-map .js-plotly-plot[data-same=yes]").count() == 1, "the map was drawn again"


def test_a_large_model_starts_collapsed_and_a_click_opens_a_module(open_page: Visit, link: str) -> None:
    page = open_page(link, height=1400)
    expect(cells(page).first).to_be_visible()
    collapsed = cells(page).count()
    assert collapsed < LAYERS / 3
    click(page, collapsed // 2)
    expect(page.get_by_role("button", name=re.compile("^Collapse block"))).to_be_visible()
    expect(cells(page)).to_have_count(collapsed + 5)
    page.get_by_role("button", name=re.compile("^Collapse block")).click()
    expect(cells(page)).to_have_count(collapsed)


def test_the_chosen_layer_is_looked_at_from_near_and_back(open_page: Visit, link: str) -> None:
    page = open_page(f"{link}&layer=%2Fstage1%2Fblock1%2Fconv1%2FConv", height=1400)
    expect(frame(page)).to_be_visible()
    before = cells(page).count()
    page.get_by_role("button", name="Zoom to selection").click()
    expect(cells(page)).to_have_count(60)
    expect(frame(page)).to_be_visible()
    page.get_by_role("button", name="Whole graph").click()
    expect(cells(page)).to_have_count(before)


def test_colours_of_the_map_have_a_legend_with_a_unit(open_page: Visit, link: str) -> None:
    page = open_page(link, height=1400)
    expect(cells(page).first).to_be_visible()
    legend = page.locator(".st-key-profile-map .infolayer")
    expect(legend.filter(has_text=re.compile(r"(ms|µs)"))).to_be_visible()
    for name, told in (("Intensity", "FLOP/B"), ("Precision", "F fp32")):
        page.locator(".st-key-profile-colour input").click()
        page.get_by_role("option", name=name).click()
        expect(legend.filter(has_text=told)).to_be_visible()
        settled(page)
