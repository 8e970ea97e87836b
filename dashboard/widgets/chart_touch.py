"""Chart touch: tells which cell of a chart was clicked, and frames the chosen one without drawing the chart again.

A figure with the frame in it would be another figure after each click, and the browser takes up to seconds to build one
of a thousand cells. Plotly's own selection would be a second one beside that of the link, and forgets itself with
every new figure. So a small script beside the chart hears the clicks and lays a frame over the cell. It reads where
the axes and areas of the drawn chart are (`_fullLayout`, `__data__`); Plotly's version is that of the pinned Streamlit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import streamlit as st

_NAME = "chart_touch"

_SCRIPT = """
const LOOK_EVERY_MS = 60

const within = (chart, rect) => {
  const around = chart.getBoundingClientRect()
  return { x: rect.x - around.x, y: rect.y - around.y, width: rect.width, height: rect.height }
}

const cellRect = (chart, { x0, x1, y0, y1, axes }) => {
  const layout = chart._fullLayout
  const x = layout?.["xaxis" + axes], y = layout?.["yaxis" + axes]
  if (!x?.d2p || !y?.d2p) return null
  const [left, right] = [x.d2p(x0), x.d2p(x1)]
  const [top, bottom] = [y.d2p(y0), y.d2p(y1)].sort((a, b) => a - b)
  if (right < 0 || left > x._length || bottom < 0 || top > y._length) return null
  return { x: x._offset + left, y: y._offset + top, width: right - left, height: bottom - top }
}

const areaRect = (chart, id) => {
  for (const slice of chart.querySelectorAll("g.slice")) {
    if (slice.__data__?.data?.data?.id !== id) continue
    const surface = slice.querySelector("path.surface")
    if (surface) return within(chart, surface.getBoundingClientRect())
  }
  return null
}

const picked = (point) => {
  const cell = Array.isArray(point?.customdata) ? point.customdata[0] : point?.customdata
  return { cell: cell ?? null, area: point?.id ?? null }
}

export default function ({ data, parentElement, setTriggerValue }) {
  // called again with every change, without an end in between
  parentElement.endOfTouch?.()
  const room = parentElement.closest?.(".stElementContainer")
  if (room) room.style.display = "none"
  const { chart: key, cells, area, color } = data
  const frames = (area ? [area] : cells).map(() => document.createElement("div"))
  for (const frame of frames) {
    frame.dataset.testid = "chosen-frame"
    Object.assign(frame.style, {
      position: "absolute", boxSizing: "border-box", border: `2.5px solid ${color}`, borderRadius: "2px",
      pointerEvents: "none", zIndex: 2, display: "none",
    })
  }
  let chart = null, events = null
  const place = () => {
    frames.forEach((frame, at) => {
      if (frame.parentElement !== chart) chart.append(frame)
      const rect = area ? areaRect(chart, area) : cellRect(chart, cells[at])
      frame.style.display = rect ? "block" : "none"
      if (rect) for (const side of ["left", "top", "width", "height"])
        frame.style[side] = { left: rect.x, top: rect.y, width: rect.width, height: rect.height }[side] + "px"
    })
  }
  const click = (event) => {
    const found = picked(event?.points?.[0])
    if (found.cell !== null || found.area !== null) setTriggerValue("picked", found)
  }
  const heard = { plotly_click: click, plotly_afterplot: place, plotly_relayout: place, plotly_relayouting: place }
  const leave = () => {
    for (const [name, listener] of Object.entries(heard)) events?.removeListener?.(name, listener)
  }
  const look = () => {
    const found = document.querySelector(`.st-key-${CSS.escape(key)} .js-plotly-plot`)
    if (!found?.on || !found._ev) return
    if (found !== chart || found._ev !== events) {
      leave()
      chart = found
      events = found._ev
      chart.style.position = "relative"
      for (const [name, listener] of Object.entries(heard)) chart.on(name, listener)
      place()
    } else if (frames.some((frame) => frame.parentElement !== chart)) place()
  }
  look()
  const timer = setInterval(look, LOOK_EVERY_MS)
  parentElement.endOfTouch = () => {
    clearInterval(timer)
    leave()
    for (const frame of frames) frame.remove()
  }
  return parentElement.endOfTouch
}
"""


@dataclass(frozen=True, slots=True)
class Box:
    """Part of a chart in the units of its axes; `axes` is "" or the number of the subplot."""

    x0: float
    x1: float
    y0: float
    y1: float
    axes: str = ""


def draw(
    chart: str,
    *,
    cells: Sequence[Box] = (),
    area: str | None = None,
    color: str,
    on_pick: Callable[[str], None],
) -> None:
    """Watches the chart of that key.

    Args:
        chart: key of the chart, or of a container with only this chart in it.
        cells: what is framed.
        area: the id of a treemap's or icicle's area that is framed instead.
        color: of the frame.
        on_pick: told of a click on a cell, with its custom data (the first entry), or on an area, with its id.
    """
    key = f"{chart}.touch"

    def tell() -> None:
        clicked = clicked_id(st.session_state[key].get("picked"))
        if clicked is not None:
            on_pick(clicked)

    watch = st.components.v2.component(_NAME, html="<span></span>", js=_SCRIPT, isolate_styles=False)
    data = {"chart": chart.replace(".", "-"), "cells": [asdict(box) for box in cells], "area": area, "color": color}
    watch(key=key, data=data, on_picked_change=tell)


def clicked_id(picked: Mapping[str, Any] | None) -> str | None:
    """What a click names: the custom data of a cell, else the id of an area."""
    found = [picked[kind] for kind in ("cell", "area") if picked.get(kind) is not None] if picked else []
    return str(found[0]) if found else None
