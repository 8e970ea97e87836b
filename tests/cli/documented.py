"""What docs/cli.md says of the JSON: for each section, the documented paths with what they link to put in place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "docs" / "cli.md"

_HEADING = re.compile(r"^### JSON of (.+)$")
_ROW = re.compile(r"^\| `([^`]+)` \| (.+) \|$")
_ALL_KEYS = re.compile(r"^All keys of \[.+\]\(#(json-of-[a-z-]+)\), and:$")
_LINK = re.compile(r"\]\(#(json-of-[a-z-]+)\)")


@dataclass(frozen=True)
class Row:
    """A documented key; `link` is the section that documents what is below it. Without a path: all keys of `link`."""

    path: str
    link: str | None


def read_sections(text: str) -> dict[str, list[Row]]:
    """Anchor -> rows, in the order of the page."""
    sections: dict[str, list[Row]] = {}
    rows: list[Row] | None = None
    for line in text.splitlines():
        if line.startswith("#"):
            heading = _HEADING.match(line)
            rows = None if heading is None else sections.setdefault(_anchor(heading[1]), [])
        elif rows is not None and (shared := _ALL_KEYS.match(line)):
            rows.append(Row("", shared[1]))
        elif rows is not None and (found := _ROW.match(line)):
            link = _LINK.search(found[2])
            rows.append(Row(found[1], None if link is None else link[1]))
    return sections


def _anchor(heading: str) -> str:
    return "json-of-" + re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")


def documented_paths(sections: Mapping[str, list[Row]], anchor: str) -> set[str]:
    """All paths of a section, links followed; containers of documented paths included."""
    found: set[str] = set()
    for row in sections[anchor]:
        below = set() if row.link is None else documented_paths(sections, row.link)
        if row.path:
            found |= {*_with_containers(row.path), *(f"{row.path}.{path}" for path in below)}
        else:
            found |= below
    return found


def _with_containers(path: str) -> Iterator[str]:
    yield path.removesuffix("[]")
    while "." in path:
        path = path.rpartition(".")[0]
        yield path.removesuffix("[]")


def real_paths(value: Any, prefix: str = "") -> Iterator[str]:
    """All paths of a document."""
    if isinstance(value, Mapping):
        for key, below in value.items():
            path = f"{prefix}.{key}" if prefix else str(key)
            yield path
            yield from real_paths(below, path)
    elif isinstance(value, list):
        for below in value:
            yield from real_paths(below, f"{prefix}[]")


def undocumented(real: Iterable[str], documented: set[str]) -> list[str]:
    """Real paths that the page does not have; below a documented `x.*` everything is allowed."""
    free = tuple(path.removesuffix("*") for path in documented if path.endswith(".*"))
    return sorted({path for path in real if path not in documented and not path.startswith(free or ("\0",))})


def unreal(document: Any, documented: set[str]) -> list[str]:
    """Documented paths that the document does not have, except below what is null or an empty list in it."""
    real = set(real_paths(document))
    empty = _empty_paths(document)
    found = []
    for path in documented:
        if path.endswith(".*") or path in real:
            continue
        if not any(path.startswith((f"{hollow}.", f"{hollow}[]")) for hollow in empty):
            found.append(path)
    return sorted(found)


def _empty_paths(value: Any, prefix: str = "") -> set[str]:
    if value is None or value in ([], {}):
        return {prefix}
    if isinstance(value, Mapping):
        return set().union(
            *(_empty_paths(below, f"{prefix}.{key}" if prefix else str(key)) for key, below in value.items())
        )
    if isinstance(value, list):
        return set().union(*(_empty_paths(below, f"{prefix}[]") for below in value))
    return set()
