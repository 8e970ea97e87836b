"""Watching a page in a browser: from a click to the moment each part of the page shows what was clicked."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from playwright.sync_api import Page

PATIENCE_MS = 60_000

#: Runs in the page. Each part is a function that tells what it shows now; it has answered once that has changed and
#: stays so. `click` is the moment of the browser's own event, so that the driver's way to it does not count.
_WATCH = """
(parts) => {
  const shows = {
    card: () => document.querySelector('.st-key-profile-card')?.innerText ?? null,
    map: () => frame('.st-key-profile-map'),
    treemap: () => area('.st-key-profile-treemap'),
    table: () => rows('.st-key-profile-layers'),
  }
  const box = (element) => {
    const at = element.getBoundingClientRect()
    return [at.x, at.y, at.width, at.height].map(Math.round).join(' ')
  }
  const frame = (root) => {
    const found = document.querySelector(root + ' [data-testid=chosen-frame]')
    return found && found.style.display !== 'none' ? box(found) : null
  }
  const area = (root) => {
    const outlined = [...document.querySelectorAll(root + ' g.slice path.surface')]
    const found = outlined.find((path) => parseFloat(path.style.strokeWidth) > 2)
    return found ? box(found) : frame(root)
  }
  const rows = (root) =>
    [...document.querySelectorAll(root + ' [role=row][aria-selected=true]')].map((row) => row.innerText).join() || null
  const before = Object.fromEntries(parts.map((part) => [part, shows[part]()]))
  const found = {}
  let click = null
  const heard = () => { click ??= performance.now() }
  for (const type of ['click', 'mouseup']) addEventListener(type, heard, { capture: true, once: true })
  return window.__watched = new Promise((resolve) => {
    const end = performance.now() + 20000
    const look = () => {
      const now = performance.now()
      for (const part of parts) {
        const shown = shows[part]()
        if (click !== null && found[part] === undefined && shown !== null && shown !== before[part])
          found[part] = now - click
      }
      if (now > end || parts.every((part) => found[part] !== undefined)) return resolve(found)
      requestAnimationFrame(look)
    }
    look()
  })
}
"""


def watch(page: Page, parts: list[str]) -> None:
    """Begins to watch for the next click; `answers` gives the times."""
    page.evaluate(f"(parts) => {{ ({_WATCH})(parts); return 0 }}", parts)


def answers(page: Page) -> Mapping[str, float]:
    """Milliseconds from the click until each part had changed; a part that never did is left out."""
    found: dict[str, float] = page.evaluate("() => window.__watched")
    return found


def settle(page: Page) -> None:
    """Waits until the page's script has ended and nothing is drawn any more."""
    page.wait_for_function("() => document.querySelector('.stApp')?.dataset.testScriptState === 'notRunning'")
    page.wait_for_timeout(400)


def seconds_until(page: Page, start: float, condition: str) -> float:
    """Seconds from `start` (perf_counter) until a condition in the page holds."""
    page.wait_for_function(condition, timeout=PATIENCE_MS, polling="raf")
    return time.perf_counter() - start


def cells(page: Page, count: int) -> list[tuple[float, float]]:
    """The middles of that many cells of the map, spread over it, in pixels of the page."""
    return _middles(page, count, "all")


def layer_cells(page: Page, count: int) -> list[tuple[float, float]]:
    """The same of cells that are layers, not modules: these have a thin border or none."""
    return _middles(page, count, "all.filter((cell) => parseFloat(cell.style.strokeWidth || 0) < 1)")


def _middles(page: Page, count: int, chosen: str) -> list[tuple[float, float]]:
    found: list[Any] = page.evaluate(
        """(count) => {
          const all = [...document.querySelectorAll('.st-key-profile-map .barlayer .point path')]
          const some = CHOSEN
          const step = Math.max(1, Math.floor(some.length / (count + 1)))
          return some.filter((_, at) => at % step === Math.floor(step / 2)).slice(0, count).map((cell) => {
            const at = cell.getBoundingClientRect()
            return [at.x + at.width / 2, at.y + at.height / 2]
          })
        }""".replace("CHOSEN", chosen),
        count,
    )
    return [(float(x), float(y)) for x, y in found]
