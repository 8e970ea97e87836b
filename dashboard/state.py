"""Session state, typed: what is on the desk lives in the link, everything else in named session keys."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar
from urllib.parse import quote, unquote

import streamlit as st

from dashboard.elsewhere import Brought
from dashboard.map_views import MapView
from dashboard.mixing import History

T = TypeVar("T")

#: How many digits of a content hash a link carries; enough for every workspace a person will ever have.
LINK_DIGITS = 12

#: The value of `DATA` that means "no file: seeded synthetic inputs".
SYNTHETIC = "synthetic"

_AGREED = "link.agreed"
_FORMER = "link.former"
#: For so long a browser may still tell the address it had before the session wrote another one.
_STALE_S = 5.0


@dataclass(frozen=True, slots=True)
class SessionKey(Generic[T]):
    """One entry of this visitor's session, with its type and a maker of its default."""

    name: str
    default: Callable[[], T]

    def get(self) -> T:
        """The value, or the default where nothing was set; a mutable default is kept, so that it may be edited."""
        if self.name not in st.session_state:
            st.session_state[self.name] = self.default()
        value: T = st.session_state[self.name]
        return value

    def set(self, value: T) -> None:
        """Keeps a value for this visitor."""
        st.session_state[self.name] = value


@dataclass(frozen=True, slots=True)
class LinkKey:
    """One entry of the link: a text that a copied address carries to another tab or person."""

    param: str
    short_hash: bool = field(default=False, kw_only=True)

    @property
    def name(self) -> str:
        """Its key in the session."""
        return f"link.{self.param}"

    def get(self) -> str | None:
        """The value, None where it is not set."""
        value: str | None = st.session_state.get(self.name)
        return value

    def set(self, value: str | None) -> None:
        """Sets it in this session and in the address; None or "" takes it out."""
        kept = value or None
        if kept is not None and self.short_hash and kept != SYNTHETIC:
            kept = kept[:LINK_DIGITS]
        st.session_state[self.name] = kept
        _write(self, kept)


@dataclass(frozen=True, slots=True)
class LinkNote:
    """A sentence on something that the link named in vain: what is shown instead, of which model, told since when."""

    text: str
    instead: str | None
    model: str | None
    at: datetime


MODEL = LinkKey("model", short_hash=True)
DATA = LinkKey("data", short_hash=True)
LAYER = LinkKey("layer")
CANDIDATE = LinkKey("candidate")
#: The candidate that others are held against; none: the one kept with the model, else the original.
BASELINE = LinkKey("baseline")
#: The other profile that the page Profile shows beside its own: the id of a job, or of a candidate.
BESIDE = LinkKey("beside")
TARGET = LinkKey("target")
SHAPES = LinkKey("shapes")
#: How it runs: threads of the runtime, samples per run, and the outputs that count with their weights.
THREADS = LinkKey("threads")
BATCH = LinkKey("batch")
OUTPUTS = LinkKey("outputs")
#: The job that opens a model, and the data that is about to be prepared for it; gone once it is on the desk.
OPENING = LinkKey("opening")
PREPARING = LinkKey("preparing")

#: The run whose details the page Runs shows: the id of a job, or of a candidate whose job was forgotten.
RUN = LinkKey("run")

#: Which part of the page Runs is open ("disk"; none: the runs), and which runs it lists: words, model, kinds, states.
RUNS_PART = LinkKey("runs")
RUNS_TEXT = LinkKey("search")
RUNS_MODEL = LinkKey("search_model", short_hash=True)
RUNS_KINDS = LinkKey("search_kinds")
RUNS_STATES = LinkKey("search_states")
OF_RUNS = (RUN, RUNS_PART, RUNS_TEXT, RUNS_MODEL, RUNS_KINDS, RUNS_STATES)

LINK_KEYS = (
    *(MODEL, DATA, LAYER, CANDIDATE, BASELINE, BESIDE, TARGET, SHAPES, THREADS, BATCH, OUTPUTS, OPENING, PREPARING),
    *OF_RUNS,
)

#: What has no meaning for another model.
OF_ONE_MODEL = (LAYER, CANDIDATE, BESIDE, SHAPES, BATCH, OUTPUTS)

#: More threads or samples per run than this are a mistyped link, not a wish.
MOST_THREADS, MOST_BATCH = 1024, 65_536

#: An error object that the last pressed button left to be shown once.
NOTICE: SessionKey[Mapping[str, Any] | None] = SessionKey("notice", lambda: None)
#: The same beside the field that caused it: key of the field -> error object.
NOTICES: SessionKey[dict[str, Mapping[str, Any]]] = SessionKey("notices", dict)
#: A sentence that the last pressed button left to be shown once: what was done, or left out.
TOLD: SessionKey[str | None] = SessionKey("told", lambda: None)
#: Per parameter of the link: what it named and this workspace does not have.
LINK_NOTES: SessionKey[dict[str, LinkNote]] = SessionKey("link.notes", dict)
#: Counts what was opened; the keys of drop zone and menu change with it, which empties the one and closes the other.
OPENED: SessionKey[int] = SessionKey("opened", lambda: 0)
#: The server folder that was chosen last; it stays chosen while its menu is not drawn.
FOLDER: SessionKey[str | None] = SessionKey("folder", lambda: None)
#: Counts how often outputs were chosen; the table's key changes with it, so that it starts from what was chosen.
OUTPUTS_SEEN: SessionKey[int] = SessionKey("outputs.seen", lambda: 0)
#: Per set of data that is prepared (the job that looked at it): its tokenizer, and the preprocessing it begins with.
TOKENIZERS: SessionKey[dict[str, str]] = SessionKey("preparing.tokenizers", dict)
BEGINNINGS: SessionKey[dict[str, Mapping[str, Any]]] = SessionKey("preparing.beginnings", dict)


def follow_link() -> None:
    """Makes session and address agree; call once at the top of every run.

    A parameter that differs from what this session wrote last was put there by a person (an opened link, the Back
    button) and wins, unless the session exchanged just that value moments ago: then the browser had not heard of it
    yet. Otherwise the session wins and is written back, since changing the page empties the address.
    """
    agreed: dict[str, str | None] = st.session_state.get(_AGREED, {})
    for key in LINK_KEYS:
        given = st.query_params.get(key.param) or None
        if given is not None and given != agreed.get(key.param) and not _is_stale(key, given):
            st.session_state[key.name] = given
        _write(key, key.get())


def _is_stale(key: LinkKey, given: str) -> bool:
    former: tuple[str | None, float] = st.session_state.get(_FORMER, {}).get(key.param, (None, 0.0))
    return given == former[0] and time.monotonic() - former[1] < _STALE_S


def choose_model(sha256: str | None, *, data: str | None = None) -> None:
    """Puts another model on the desk; what belonged to the former one (data, layer, candidate) is taken off."""
    MODEL.set(sha256)
    DATA.set(data)
    for key in (*OF_ONE_MODEL, OPENING, PREPARING):
        key.set(None)


def set_in_order(values: Mapping[LinkKey, str | None]) -> None:
    """Sets several entries, one after the other.

    A run of the page may end at any of them, since a visitor's next click ends it: whoever does this in the middle of a
    page sets last what would make the next run do it again.
    """
    for key, value in values.items():
        key.set(value)


def shapes() -> dict[str, tuple[int, ...]]:
    """The input shapes chosen for synthetic data, e.g. {"x": (1, 3, 224, 224)}; unreadable ones are left out."""
    found: dict[str, tuple[int, ...]] = {}
    for part in (SHAPES.get() or "").split(","):
        name, _, sizes = part.rpartition(":")
        if name and all(size.isdecimal() for size in sizes.split("x")):
            found[unquote(name)] = tuple(int(size) for size in sizes.split("x"))
    return found


def choose_shapes(chosen: Mapping[str, Sequence[int]]) -> None:
    """Sets the input shapes for synthetic data; none at all leaves the choice to Mixdesk."""
    SHAPES.set(shapes_text(chosen))


def shapes_text(chosen: Mapping[str, Sequence[int]]) -> str:
    """Input shapes as the link has them: "x:1x3x224x224"."""
    return ",".join(f"{quote(name, safe='')}:{'x'.join(map(str, shape))}" for name, shape in chosen.items())


def threads() -> int:
    """Threads of the runtime; 1 where nothing readable was chosen."""
    return _whole(THREADS, MOST_THREADS)


def batch() -> int:
    """Samples per run; 1 where nothing readable was chosen."""
    return _whole(BATCH, MOST_BATCH)


def choose_running(*, threads: int, batch: int) -> None:
    """Sets threads and samples per run for every job from now on."""
    THREADS.set(str(threads) if threads != 1 else None)
    BATCH.set(str(batch) if batch != 1 else None)


def outputs() -> dict[str, float]:
    """The outputs that count, with their weights; none: all of them count the same. Unreadable ones are left out."""
    found: dict[str, float] = {}
    for part in (OUTPUTS.get() or "").split(","):
        name, _, text = part.rpartition(":")
        weight = _number(text)
        if name and weight is not None and weight > 0:
            found[unquote(name)] = weight
    return found


def choose_outputs(chosen: Mapping[str, float]) -> None:
    """Sets the outputs that count; none at all means all of them, each with weight 1."""
    OUTPUTS.set(",".join(f"{quote(name, safe='')}:{weight:g}" for name, weight in chosen.items()))


def link() -> dict[str, str]:
    """The parameters of the present view, for links between pages."""
    return {key.param: value for key in LINK_KEYS if (value := key.get()) is not None}


def _whole(key: LinkKey, most: int) -> int:
    text = key.get() or ""
    return int(text) if text.isascii() and text.isdigit() and 1 <= int(text) <= most else 1


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _write(key: LinkKey, value: str | None) -> None:
    if value is None:
        if key.param in st.query_params:
            del st.query_params[key.param]
    elif st.query_params.get(key.param) != value:
        st.query_params[key.param] = value
    agreed: dict[str, str | None] = st.session_state.get(_AGREED, {})
    if agreed.get(key.param) != value:
        exchanged = (agreed.get(key.param), time.monotonic())
        st.session_state[_FORMER] = {**st.session_state.get(_FORMER, {}), key.param: exchanged}
        st.session_state[_AGREED] = {**agreed, key.param: value}


# ---- Mix page ---------------------------------------------------------------------------------------------------

#: Per model (its sha256): the mix on the desk, with its steps to undo and redo.
MIXES: SessionKey[dict[str, History]] = SessionKey("mix.histories", dict)
#: Per model (its sha256): the recipe that was dropped on the Model page, fitted to it.
RECIPES: SessionKey[dict[str, Brought]] = SessionKey("recipes.brought", dict)
#: Why the recipe file that was brought in last was refused.
RECIPE_PROBLEM: SessionKey[Mapping[str, Any] | None] = SessionKey("mix.recipe.problem", lambda: None)

# ---- Profile page -----------------------------------------------------------------------------------------------

#: Per model (its sha256): what its map shows.
MAP_VIEWS: SessionKey[dict[str, MapView]] = SessionKey("profile.map.views", dict)

# ---- Profile page ------------------------------------------------------------------------------------------------

#: What applying an advice did: sha256 of the model and the advice's rule -> sentences.
APPLIED: SessionKey[dict[tuple[str, str], str]] = SessionKey("advice.applied", dict)

# ---- Compare page -----------------------------------------------------------------------------------------------

#: Counts the clicks in the table of candidates that chose none; its key changes with it, so that the tick stays.
NO_CANDIDATE_CHOSEN: SessionKey[int] = SessionKey("compare.none_chosen", lambda: 0)

# ---- Runs page --------------------------------------------------------------------------------------------------

#: Counts how often a run was chosen elsewhere than in the table; its key changes with it, so that it shows the choice.
RUN_CHOSEN: SessionKey[int] = SessionKey("runs.chosen", lambda: 0)
#: The key of the table of runs that was drawn last.
RUN_TABLE: SessionKey[str] = SessionKey("runs.table.key", str)
#: What was deleted last and how much that freed, told once.
FREED: SessionKey[str | None] = SessionKey("runs.freed", lambda: None)


def words(key: LinkKey) -> tuple[str, ...]:
    """The entries of a list in the link: "build,profile"."""
    return tuple(filter(None, (key.get() or "").split(",")))


def choose_words(key: LinkKey, chosen: Sequence[str]) -> None:
    """Sets a list in the link; the entries have no commas in them."""
    key.set(",".join(chosen))


def choose_run(run_id: str | None) -> None:
    """Shows another run, chosen elsewhere than in the table."""
    RUN.set(run_id)
    RUN_CHOSEN.set(RUN_CHOSEN.get() + 1)
