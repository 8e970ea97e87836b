"""How fast the Profile page answers: from opening a finished profile to its first picture, and from clicks to answers.

    python -m benchmarks.profile_page [--layers 1000 10000] [--clicks 7] [--workspace DIR] [--json FILE]

Makes residual networks of tiny layers, inspects and profiles them with the command line, starts a server and a headless
Chromium on the same machine, and measures in the page, from the browser's own click to the frame after the change:

- `open`: a click on "Profile" in the top bar until the map shows cells; `open cold` in a browser that was never here,
  which loads the scripts of charts first;
- `detail`: all layers instead of collapsed modules (with more than 2,000 it is left out: modules are opened instead);
- `map/...`, `row/...`, `area/...`: a click on a cell of the map, a row of the table, an area of the treemap, until the
  details (card), the table, the treemap and the map show the layer that was clicked. The row of a layer clicked
  elsewhere may lie outside the table's view, and a table tells only of rows in view: `count` is how often it was seen.

Prints a table and JSON. Needs Chromium and playwright.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks import page_watch
from benchmarks.deep_model import write_deep_model

_ARGUMENTS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
_CELLS = "document.querySelectorAll('.st-key-profile-map .barlayer .point path').length"
#: More cells than these are not looked at all at once.
_ALL_AT_ONCE = 2_000
_ROW_PX = 35

Times = dict[str, list[float]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures each size and prints what was found."""
    options = _parse(arguments)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        print("No Chromium was found: install one and put it on the PATH.")
        return 2
    found = []
    with tempfile.TemporaryDirectory(prefix="mixdesk-page-") as scratch, sync_playwright() as playwright:
        workspace = options.workspace or Path(scratch) / "workspace"
        models = {layers: _prepare(Path(scratch), workspace, layers) for layers in options.layers}
        browser = playwright.chromium.launch(executable_path=chromium, args=list(_ARGUMENTS))
        with _server(workspace) as url:
            for layers, sha256 in models.items():
                times = _measure(browser, url, sha256, layers, options.clicks)
                found.append({"layers": layers, "seconds": {name: _summary(each) for name, each in times.items()}})
                _show(layers, times)
        browser.close()
    text = json.dumps({"cores": os.cpu_count(), "load": os.getloadavg(), "sizes": found}, indent=1)
    print(text)
    if options.json is not None:
        options.json.write_text(text, encoding="utf-8")
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.profile_page", description=__doc__)
    parser.add_argument("--layers", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--clicks", type=int, default=7)
    parser.add_argument("--workspace", type=Path, help="keep models and profiles below this folder")
    parser.add_argument("--json", type=Path)
    return parser.parse_args(arguments)


def _prepare(folder: Path, workspace: Path, layers: int) -> str:
    """Writes, inspects and profiles a model; returns the hash of its file. What the workspace has is not done again."""
    path = folder / f"deep{layers}.onnx"
    write_deep_model(path, layers)
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    done = workspace / f"profiled-{sha256[:12]}"
    if not done.exists():
        for command in (("inspect",), ("profile", "--runs", "10")):
            line = [sys.executable, "-m", "core.cli", command[0], str(path), *command[1:]]
            subprocess.run(
                [*line, "--json", "--workspace", str(workspace)],
                check=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        done.touch()
    return sha256


@contextmanager
def _server(workspace: Path) -> Iterator[str]:
    """The dashboard on a free port."""
    command = [sys.executable, "-m", "dashboard", "--port", "0", "--workspace", str(workspace)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        line = process.stdout.readline() if process.stdout is not None else ""
        found = re.search(r"http://\S+", line)
        if found is None:
            raise RuntimeError("the dashboard did not start")
        yield found[0]
    finally:
        process.terminate()
        process.wait()


def _measure(browser: Browser, url: str, sha256: str, layers: int, clicks: int) -> Times:
    """Seconds of everything that is measured on one model."""
    page = browser.new_context(viewport={"width": 1600, "height": 1500}).new_page()
    page.set_default_timeout(page_watch.PATIENCE_MS)
    page.goto(f"{url}/?model={sha256[:12]}&data=synthetic")
    times: Times = {"open cold": [], "open": []}
    for number in range(4):
        page.get_by_text("Activation peak").wait_for()
        page_watch.settle(page)
        start = time.perf_counter()
        page.get_by_role("link", name="Profile").click()
        seconds = page_watch.seconds_until(page, start, f"() => {_CELLS} > 0")
        times["open" if number else "open cold"].append(seconds)
        page_watch.settle(page)
        if number < 3:
            page.get_by_role("link", name="Model").click()
    if layers <= _ALL_AT_ONCE:
        times["detail"] = [_show_all(page, layers)]
    else:
        for _ in range(2):  # a stage, and a block of it
            page.mouse.click(*page_watch.cells(page, 1)[0])
            page_watch.settle(page)
    _click_rows(page, clicks, times)
    _click_cells(page, clicks, times, ["card", "map", "table"], "map")
    page.get_by_role("tab", name="Modules").click()
    page_watch.settle(page)
    _click_cells(page, clicks, times, ["card", "map", "treemap"], "map with treemap")
    page.context.close()
    return times


def _show_all(page: Page, layers: int) -> float:
    """Seconds until all layers are cells."""
    page.locator(".st-key-profile-detail input").click()
    start = time.perf_counter()
    page.get_by_role("option").filter(has_text="All").click()
    seconds = page_watch.seconds_until(page, start, f"() => {_CELLS} >= {layers}")
    page_watch.settle(page)
    return seconds


def _click_cells(page: Page, clicks: int, times: Times, parts: list[str], name: str) -> None:
    for x, y in page_watch.layer_cells(page, clicks):
        page_watch.watch(page, parts)
        page.mouse.click(x, y)
        _take(page, times, name)


def _click_rows(page: Page, clicks: int, times: Times) -> None:
    box = page.locator(".st-key-profile-layers").bounding_box()
    assert box is not None
    for row in range(clicks):
        page_watch.watch(page, ["card", "map", "table"])
        page.mouse.click(box["x"] + 20, box["y"] + _ROW_PX * (row + 1.5))
        _take(page, times, "row")


def _take(page: Page, times: Times, name: str) -> None:
    for part, milliseconds in page_watch.answers(page).items():
        times.setdefault(f"{name}/{part}", []).append(milliseconds / 1000)
    page_watch.settle(page)


def _summary(seconds: Sequence[float]) -> dict[str, float | int]:
    return {"median": round(statistics.median(seconds), 3), "max": round(max(seconds), 3), "count": len(seconds)}


def _show(layers: int, times: Times) -> None:
    print(f"{layers:,} layers{'':20s} median s    max s  count")
    for name, seconds in times.items():
        found = _summary(seconds)
        print(f"  {name:32s} {found['median']:8.3f} {found['max']:8.3f} {found['count']:6d}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
