"""Saved mixes: recipes kept under a name and the draft, whether they were built, and the way to the desk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.errors import MixdeskError
from dashboard import services, state
from dashboard.mixing import Mix
from dashboard.services import Subject
from dashboard.widgets import mix_desk
from dashboard.widgets.text import plain


def draw(on: Subject) -> None:
    """One row per recipe that was kept, those that were never built marked; nothing where there is none."""
    rows = {row.name: row.recipe for row in services.mixes(on)}
    draft = services.draft(on)
    if draft is not None and not _is_empty(draft):
        rows = {services.DRAFT: draft, **rows}
    if not rows:
        return
    built = [dict(candidate.recipe) for candidate in services.candidates(on)]
    st.subheader("Saved mixes", anchor=False)
    with st.container(border=True, gap="small"):
        for name, recipe in rows.items():
            _row(on, name, recipe, was_built=was_built(recipe, built))


def _row(on: Subject, name: str, recipe: Mapping[str, Any], *, was_built: bool) -> None:
    is_draft = name == services.DRAFT
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown("The draft on the desk" if is_draft else plain(name), width="stretch")
        st.caption(f"{rules(recipe)} · {'built' if was_built else 'never built'}", width="content")
        # a button whose press is read here: only the script, not its callback, can change the page
        if st.button("Open in Mix", key=f"mixes.open.{name}", icon=":material/tune:", type="tertiary"):
            open_in_mix(on, recipe, is_draft=is_draft)
        st.button(
            "Delete",
            key=f"mixes.delete.{name}",
            icon=":material/delete:",
            type="tertiary",
            on_click=_delete,
            args=(on, name),
        )


def open_in_mix(on: Subject, recipe: Mapping[str, Any], *, is_draft: bool = False) -> None:
    """Puts the recipe on the desk as one step that can be undone, and goes there; the draft lies there already."""
    if not is_draft:
        try:
            mix = Mix.from_dict(recipe)
        except MixdeskError as error:
            state.NOTICE.set(error.to_dict())
            st.rerun()
        mix_desk.step(on, lambda _: mix)
    st.switch_page("app_pages/mix.py", query_params=state.link())


def was_built(recipe: Mapping[str, Any], built: list[dict[str, Any]]) -> bool:
    """Whether a candidate was built by just these rules and pins."""
    try:
        wanted = Mix.from_dict(recipe).recipe().to_dict()["rules"]
    except MixdeskError:
        return False
    return any(_asked(each.get("rules")) == _asked(wanted) for each in built)


def rules(recipe: Mapping[str, Any]) -> str:
    """How many rules and pins a recipe has: "2 rules, 1 pin"."""
    count, pins = len(recipe.get("rules", ())), len(recipe.get("pins") or ())
    told = "1 rule" if count == 1 else f"{count} rules"
    return told if not pins else f"{told}, {pins} pin{'' if pins == 1 else 's'}"


def _asked(given: Any) -> list[tuple[str, str]]:
    return [(str(rule.get("match")), str(rule.get("precision"))) for rule in given or ()]


def _is_empty(recipe: Mapping[str, Any]) -> bool:
    return not recipe.get("rules") and not recipe.get("pins")


def _delete(on: Subject, name: str) -> None:
    """Forgets it; the draft leaves the desk with it."""
    services.remove_mix(on, name)
    if name == services.DRAFT:
        state.MIXES.get().pop(on.model.sha256, None)
