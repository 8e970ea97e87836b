"""Mix: the desk - a precision for every group, edited in many at once, undone, built and measured in the background."""

from __future__ import annotations

import streamlit as st

from core.recipe.resolve import resolve
from dashboard import services
from dashboard.group_views import built_with, group_views, solo_scores
from dashboard.layer_rows import layer_table
from dashboard.layer_views import layer_views
from dashboard.offers import offered_in_int8, offers
from dashboard.widgets import empty, jobs, link_notes, mix_build, mix_desk, mix_inspector, mix_map, mix_recipe

on = services.subject()
if on is None:
    empty.ask_for_model()
    st.stop()
unfinished = services.ensure_inspected(on)
if unfinished is not None:
    jobs.card(unfinished.id, key="inspect")
    st.stop()
inspection = services.inspection(on)
if inspection is None:
    st.stop()

machine = services.machine()
table = layer_table(inspection)
layers = layer_views(inspection, services.profile(on))
candidate = services.current_candidate(on)
mix = mix_desk.history(on).present
plan = resolve(mix.recipe(), table, offered=offered_in_int8(machine))
built = None if candidate is None else built_with(candidate.plan)
solo = solo_scores(row.report for row in services.candidates(on))
groups = group_views(table, layers, plan, pins=mix.pins, built=built, solo_db=solo)
offered = offers(machine, sorted({layer.op for layer in layers}))

link_notes.layer({layer.id for layer in layers})
mix_build.measured(on, candidate, groups)
desk, side = st.columns([3, 1], gap="small")
with desk:
    mix_desk.toolbar(on, groups, offered, probed=machine is not None)
    mix_map.draw(layers, inspection, plan, groups)
    mix_desk.table(on, groups, offered)
with side:
    mix_inspector.draw(on, mix_map.chosen(layers, groups), offered, machine)
    mix_build.build(on, groups)
    mix_build.auto_mix(on)
    mix_recipe.probe(machine, offered)
mix_recipe.drawers(on, table, offered, machine)
