"""The report as one HTML page: the verdict first, then figures, times, layers, what was not done, and conditions.

The page holds all it needs: no script, no font, no request to anywhere. Names from models are escaped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from core.report import charts, lines, quantities
from core.report.asked import as_asked, asked_and_got, reason, tried
from core.report.changes import advice_lines
from core.report.charts import Segment
from core.report.diagnosis import explanation
from core.report.names import shorten
from core.report.summary import comparison_of, speedup_of, target_of
from core.report.tiles import Tile, tiles

Document = Mapping[str, Any]

_PRECISIONS = ("fp32", "fp16", "bf16", "int8", "int8-dynamic", "int8-weights", "int4-weights", "a16w8", "fp8")
_BUCKETS = {
    "quantize": "conversions to and from 8-bit integers",
    "cast": "casts",
    "reorder": "changes of memory layout",
    "copy": "copies",
    "unattributed": "not attributed",
}
_MOST_BARS = 14
#: Longer names of layers are cut; the whole one is told when pointed at.
_NAME_LENGTH = 64
#: Of a hash beside a name.
_SHOWN_DIGITS = 12
_NAMES = {
    "cpu": "Processor",
    "cores": "Logical processors",
    "features": "Instruction sets",
    "os": "System",
    "python": "Python",
    "onnxruntime": "onnxruntime",
    "provider": "Execution provider",
    "threads": "Threads",
    "batch": "Batch",
    "load_average": "Load average",
    "seed": "Seed",
    "time": "Measured at",
    "machine": "Machine id",
}


def report_html(document: Document, *, name: str = "") -> str:
    """The page of an `optimize`, `build` or `compare` document.

    Args:
        document: as the command line gives it with `--json`.
        name: what to call the candidate; default: its own name.
    """
    rows = layer_rows(document)
    return _template().render(
        head=_head(document, name),
        version=document.get("mixdesk"),
        verdict=verdict(document),
        below=[tile for tile in tiles(document) if tile.below],
        targets=_targets(document),
        synthetic=bool((document.get("data") or {}).get("synthetic")),
        tiles=[_tile(tile) for tile in tiles(document)],
        how=(speedup_of(document) or {}).get("how"),
        explanation=explanation(document),
        times=_times(document),
        advice=[advice_lines(advice) for advice in (document.get("profile") or {}).get("advice") or ()],
        layers=rows,
        missed=sum(1 for row in rows if not row["as_asked"]),
        asked=asked_and_got(document["layers"]) if rows else "",
        legend=_legend(document),
        front=_front(document),
        chosen=not document.get("unchanged"),
        sensitivity=_sensitivity(document),
        not_done=not_done(document),
        conditions=_conditions(document.get("conditions") or {}),
        data=lines.data_line(document["data"]) if document.get("data") else "",
        hashes=_hashes(document),
        recipe=json.dumps(document["recipe"], indent=1, ensure_ascii=False) if document.get("recipe") else "",
    )


def _head(document: Document, name: str) -> dict[str, Any]:
    """What the page is about: model, candidate and data by name, and the files by their hashes, each said whose."""
    model, candidate = str(_original(document).get("model") or ""), name or str(document.get("name") or "")
    data = document.get("data") or {}
    named = [part for part in (model, candidate) if part] or ["Comparison"]
    return {
        "title": ": ".join(named),
        "model": named[0],
        "candidate": candidate if model else "",
        "data": "synthetic inputs" if data.get("synthetic") else str(data.get("name") or ""),
        "files": [(label, value, value[:_SHOWN_DIGITS]) for label, value in _hashes(document)],
    }


def _original(document: Document) -> Document:
    """Name and hash of the model that a candidate was made of."""
    return {"model": document.get("model"), **(document.get("made_for") or {})}


def verdict(document: Document) -> dict[str, str]:
    """The answer: a large figure, what it is, the sentence behind it, and its tone (better, worse, even, unknown)."""
    compared, speedup = comparison_of(document), speedup_of(document)
    why = str(document.get("why") or (compared or {}).get("why") or "")
    if document.get("unchanged"):
        return {"figure": "Unchanged", "what": "the original stays", "why": why, "tone": "even"}
    if compared is None or speedup is None:
        return {"figure": "Built", "what": "not measured against the original", "why": why, "tone": "unknown"}
    word = str(compared.get("verdict") or "")
    tones = {"better": "better", "worse": "worse", "no difference seen": "even"}
    if any(tile.below for tile in tiles(document)):
        tones["better"] = "even"  # faster alone is not better as a whole
    what = f"as fast as the original · 95 % interval {quantities.ratio_range(speedup['ci95'])}"
    if word and word != "better":
        what += f" · {word}"
    told = str(compared.get("why") or "")
    if document.get("why") and told and told != why:
        why = f"{_sentence(why)} {_sentence(told)}"
    return {
        "figure": quantities.ratio(speedup["ratio"]),
        "what": what,
        "why": why,
        "tone": tones.get(word, "unknown"),
    }


def layer_rows(document: Document) -> list[dict[str, Any]]:
    """The layers with their times before and after where they were profiled, the slowest first."""
    before, after = _times_of(document.get("original_profile")), _times_of(document.get("profile"))
    longest = max([*before.values(), *after.values(), 0.0])
    rows = []
    for row in document.get("layers") or ():
        if "executed" not in row:
            return []
        was, is_now = before.get(row["id"]), after.get(row["id"])
        told = quantities.times_ms(was, is_now)
        rows.append(
            {
                **row,
                "short": shorten(str(row["id"]), _NAME_LENGTH),
                "as_asked": as_asked(row),
                "why": reason(row),
                "before": told[0] if was is not None else "",
                "after": told[1] if is_now is not None else "",
                "before_share": 100 * (was or 0.0) / longest if longest else 0.0,
                "after_share": 100 * (is_now or 0.0) / longest if longest else 0.0,
                "styles": [_style(row[key]) for key in ("requested", "produced", "executed")],
                "order": -(was or 0.0),
            }
        )
    return sorted(rows, key=lambda row: float(row["order"]))


def not_done(document: Document) -> list[str]:
    """What was asked and not done, not measured, or not allowed, each with its reason."""
    found = [_sentence(str(note)) for note in document.get("notes") or ()]
    for part in ("dynamic", "session"):
        why = (document.get(part) or {}).get("why")
        found += [_sentence(str(why))] if why else []
    if document.get("tried") and explanation(document) is None:
        found.append(tried(document["tried"]))
    compared = comparison_of(document)
    if compared is None:
        found.append("Nothing was measured: neither speed nor accuracy is known.")
    else:
        accuracy, fidelity = compared.get("accuracy") or {}, compared.get("fidelity") or {}
        if accuracy.get("before") is None:
            found.append(f"Accuracy was not measured: {accuracy.get('why') or 'the data has no labels'}.")
        if fidelity.get("sqnr_db") is None:
            found.append(f"There is no SQNR: {fidelity.get('why') or 'it does not apply'}.")
    if not (document.get("energy") or {}).get("source"):
        found.append("Energy was not measured: this machine has no counter that can be read, and none is estimated.")
    return found


def _sentence(text: str) -> str:
    text = text.strip()
    return text if not text or text.endswith((".", "?", "!")) else f"{text}."


def _targets(document: Document) -> list[dict[str, Any]]:
    target = target_of(document)
    each = [] if target is None else target.get("each") or [target]
    return [
        {
            "text": row["text"],
            "met": row["met"],
            "value": quantities.three(row.get("value")),
            "required": quantities.three(row.get("required")),
            "bound": quantities.three(row.get("bound")),
            "samples": row.get("samples"),
            "why": row.get("why") or "",
        }
        for row in each
        if "metric" in row
    ]


def _tile(tile: Tile) -> dict[str, Any]:
    known = tile.ratio is not None
    spread = f" [{quantities.three(tile.ci95[0])}–{quantities.three(tile.ci95[1])}]" if tile.ci95 else ""
    return {
        "label": tile.label,
        "before": "" if tile.before == quantities.NOT_KNOWN else tile.before,
        "after": tile.after,
        "ratio": f"{quantities.ratio(tile.ratio)}{spread}" if known else tile.change,
        "spread": charts.spread(tile.ratio, tile.ci95, tile.verdict or "") if tile.ratio else None,
        "verdict": tile.verdict or "",
        "help": tile.help,
        "note": tile.note,
        "below": tile.below,
    }


def _times(document: Document) -> list[tuple[str, Markup]]:
    """Time in kernels before and after as two bars of one scale; empty where it was not profiled."""
    before, after = document.get("original_profile"), document.get("profile")
    if not before or not after:
        return []
    executed = {row["id"]: str(row["executed"]) for row in document.get("layers") or ()}
    return charts.time_bars([("Before", _segments(before, {})), ("After", _segments(after, executed))])


def _segments(profile: Document, executed: Mapping[str, str]) -> list[Segment]:
    """The layers that take time, in graph order, then the time that belongs to none."""
    found = []
    for row in profile["layers"]:
        if row["ms"]:
            precision = executed.get(row["id"], "fp32")
            title = f"{row['id']} ({row['op']}): {quantities.time_ms(row['ms'])}, {precision}"
            found.append(Segment(row["ms"], _style(precision), title))
    for name, told in _BUCKETS.items():
        ms = profile["buckets"].get(name)
        if ms:
            found.append(Segment(ms, "p-none", f"{told}: {quantities.time_ms(ms)}"))
    return found


def _legend(document: Document) -> list[tuple[str, str]]:
    """Precisions that occur, with their CSS class; the rest of the time where there is a chart of it."""
    found = {str(row.get("executed")) for row in document.get("layers") or ()} - {"folded", "None"}
    if document.get("original_profile"):
        found.add("fp32")
    legend = [(_style(name), name) for name in _PRECISIONS if name in found]
    return [*legend, ("p-none", "conversions and other")] if document.get("profile") else legend


def _style(precision: object) -> str:
    """The CSS class of a precision; never made of a name that came from elsewhere."""
    return f"p-{precision}" if precision in _PRECISIONS else "p-none"


def _times_of(profile: Document | None) -> dict[str, float]:
    return {row["id"]: row["ms"] for row in (profile or {}).get("layers") or () if row.get("ms") is not None}


def _front(document: Document) -> Markup:
    target = target_of(document) or {}
    required = [row.get("required") for row in target.get("each") or () if row.get("metric") == "sqnr"]
    chosen = None if document.get("unchanged") else document.get("bytes")
    return charts.front(document.get("front") or (), chosen_bytes=chosen, required_db=required[0] if required else None)


def _sensitivity(document: Document) -> Markup:
    """The most sensitive groups; a lower figure is more harm."""
    scores = sorted(document.get("sensitivity") or (), key=lambda row: row["sqnr_db"] or 0.0)[:_MOST_BARS]
    rows = [(str(row["group"]), float(row["sqnr_db"] or 0.0), _style(row["precision"])) for row in scores]
    return charts.bars(rows, unit="dB") if len(rows) > 1 else Markup("")


def _conditions(conditions: Document) -> list[tuple[str, str]]:
    shown = []
    for key, label in _NAMES.items():
        value = conditions.get(key)
        if value is not None and value != []:
            shown.append(
                (
                    label,
                    ", ".join(map(str, value))
                    if isinstance(value, Sequence) and not isinstance(value, str)
                    else str(value),
                )
            )
    return shown


def _hashes(document: Document) -> list[tuple[str, str]]:
    named = {
        "Original file": _original(document).get("sha256"),
        "Candidate file": document.get("sha256"),
        "Data file": (document.get("data") or {}).get("sha256"),
    }
    return [(label, str(value)) for label, value in named.items() if value]


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(files("core.report").joinpath("page.html").read_text(encoding="utf-8"))
