"""The pages with ten thousand layers: all of them are drawn, and what a browser has to take stays small."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dashboard.figures.heat_map import heat_map
from dashboard.figures.theme import LIGHT
from dashboard.layer_views import MEASURES, layer_views
from tests.dashboard import faked as fakes
from tests.dashboard.documents import inspect_document, profile_document
from tests.dashboard.faked import Desk, run

LAYERS = 10_000


@pytest.fixture(scope="module")
def inspection() -> dict[str, Any]:
    return inspect_document(LAYERS)


@pytest.mark.parametrize("page", ["profile", "mix"])
def test_a_page_with_ten_thousand_layers_is_drawn(
    table: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch, inspection: dict[str, Any], page: str
) -> None:
    monkeypatch.setattr(fakes, "inspect_document", lambda _: inspection)
    desk = table(LAYERS)
    desk.profile = profile_document(inspection)
    app = run(page)
    assert len(app.dataframe[0].value) > LAYERS / 4


def test_the_map_of_ten_thousand_layers_is_sent_in_a_few_megabytes(inspection: dict[str, Any]) -> None:
    views = layer_views(inspection, profile_document(inspection))
    figure = heat_map(views, inspection["layout"], MEASURES[0], LIGHT)
    drawn = sum(len(trace.customdata) for trace in figure.data if trace.customdata is not None)
    assert drawn >= LAYERS
    assert len(figure.to_json()) < 8_000_000
