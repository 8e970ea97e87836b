"""The mix as a recipe: its JSON to read, save and bring in; and the precisions that are not offered, with why."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import streamlit as st

from core.errors import MixdeskError
from core.graph.layer import LayerTable
from core.recipe.resolve import resolve
from dashboard import elsewhere, services, state
from dashboard.figures.theme import precision_label
from dashboard.file_names import slug
from dashboard.machine_view import chosen
from dashboard.mixing import Mix
from dashboard.offers import Offer
from dashboard.services import Subject
from dashboard.tables import capability_table
from dashboard.widgets import errors, jobs, mix_desk
from dashboard.widgets.text import plain

#: High enough for the card of the probe: what comes in its place takes the same room, so that nothing moves.
_MACHINE_PX = 210


def drawers(on: Subject, table: LayerTable, offers: Sequence[Offer], machine: Mapping[str, Any] | None) -> None:
    """Recipe and capability, drawn only while they are open."""
    rules = st.expander("Recipe", icon=":material/data_object:", key="mix.drawer.recipe", on_change="rerun")
    if rules.open:
        with rules:
            recipe(on, table)
    missing = sum(1 for offer in offers if not offer.offered)
    label = f"What is not offered here, and why ({missing} precisions)"
    grid = st.expander(label, icon=":material/block:", key="mix.drawer.offers", on_change="rerun")
    if grid.open:
        with grid:
            not_offered(offers, machine, {layer.op_type for layer in table})


def recipe(on: Subject, table: LayerTable) -> None:
    """Rules as JSON, with download, upload and keeping it under a name."""
    text = json.dumps(mix_desk.history(on).present.recipe().to_dict(), indent=1)
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        st.download_button(
            "Download recipe",
            text,
            file_name=f"{slug(on.model.name, 'recipe')}.json",
            mime="application/json",
            icon=":material/download:",
            on_click="ignore",
            key="mix.recipe.save",
        )
        name = st.text_input("Keep under a name", key="mix.recipe.name", width=240)
        st.button(
            "Keep", icon=":material/save:", disabled=not name, on_click=_keep, args=(on, name), key="mix.recipe.keep"
        )
    given = st.file_uploader(
        "Bring in a recipe (JSON)",
        type=["json"],
        max_upload_size=elsewhere.MOST_MB,
        key="mix.recipe.upload",
        on_change=_bring_in,
        args=(on, table),
        help="It may come from another mix, from the command line, or from the same model before it was retrained.",
    )
    if given is not None and state.RECIPE_PROBLEM.get() is not None:
        errors.show_document(state.RECIPE_PROBLEM.get())
    st.code(text, language="json", height=320)


def _keep(on: Subject, name: str) -> None:
    services.save_mix(on, name, mix_desk.history(on).present.recipe().to_dict())


def _bring_in(on: Subject, table: LayerTable) -> None:
    """Puts the recipe of a file on the desk; a refused one is told beside the upload, not at the top of the page."""
    given = st.session_state["mix.recipe.upload"]
    state.RECIPE_PROBLEM.set(None)
    if given is None:
        return
    try:
        mix = read_recipe(given.getvalue(), table)
    except MixdeskError as error:
        state.RECIPE_PROBLEM.set(error.to_dict())
        return
    mix_desk.step(on, lambda _: mix)


def read_recipe(data: bytes, table: LayerTable) -> Mix:
    """A recipe file that fits the model.

    Raises:
        RecipeError: not JSON, not a recipe, or it names what the model does not have.
        UnavailableError: it asks for what this version does not build.
    """
    rules, _ = elsewhere.rules_in(data)
    mix = Mix.from_dict(rules)
    resolve(mix.recipe(), table)
    return mix


def not_offered(offers: Sequence[Offer], machine: Mapping[str, Any] | None, ops: Collection[str]) -> None:
    """What cannot be chosen here and why, and what the probe measured of the operators of this model."""
    for offer in offers:
        if not offer.offered:
            st.markdown(f"**{plain(precision_label(str(offer.precision)))}** :gray[{plain(offer.why)}]")
    if machine is not None:
        grid = capability_table(chosen(machine, ops=ops))
        st.dataframe(grid.frame, column_config=grid.config, hide_index=True, alt="What this machine executes, measured")


def probe(machine: Mapping[str, Any] | None, offers: Sequence[Offer]) -> None:
    """What this machine executes; while it has not been probed that is started once, and how far it is shown."""
    with st.container(height=_MACHINE_PX, border=False, gap="small"):
        if machine is None:
            _probing()
            return
        with st.container(border=True, gap="small"):
            st.markdown("**This machine**")
            st.caption(plain(executes(offers)))


def executes(offers: Sequence[Offer]) -> str:
    """What can be chosen beside fp32, in one sentence, e.g. "int8: executed here for Conv, Gemm"."""
    told = [f"{offer.precision}: {offer.why}" for offer in offers if offer.offered and offer.precision != "fp32"]
    return f"{'; '.join(told)}." if told else "Only fp32 is offered for this model; why is listed below."


def _probing() -> None:
    known = [row for row in services.jobs(limit=200) if row.kind == "machine"]
    row = known[0] if known else services.job(services.submit_machine())
    jobs.card(row.id, key="mix.machine")
    st.caption("Mixdesk finds out once which precisions this machine really executes; until then only fp32 is offered.")
