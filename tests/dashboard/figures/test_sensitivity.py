"""Sensitivity bars: the most sensitive group first, no more than can be read."""

from __future__ import annotations

from dashboard.figures.sensitivity import MOST_GROUPS, sensitivity_bars
from dashboard.figures.theme import LIGHT

SCORES = [{"group": f"g{number}", "precision": "int8", "sqnr_db": float(90 - number)} for number in range(40)]


def test_the_most_sensitive_group_comes_first_and_only_so_many_are_shown() -> None:
    figure = sensitivity_bars(SCORES, LIGHT)
    assert len(figure.data[0].x) == MOST_GROUPS
    assert list(figure.layout.yaxis.ticktext[:2]) == ["g39", "g38"]
    assert figure.data[0].text[0] == "51.0 dB"


def test_a_group_without_a_figure_is_left_out() -> None:
    unknown = {"group": "x", "precision": "int8", "sqnr_db": None}
    assert len(sensitivity_bars([unknown, *SCORES[:3]], LIGHT).data[0].x) == 3
    assert len(sensitivity_bars([unknown], LIGHT).data[0].x) == 0


def test_names_are_not_markup() -> None:
    figure = sensitivity_bars([{"group": "<b>x</b>", "precision": "int8", "sqnr_db": 1.0}], LIGHT)
    assert figure.layout.yaxis.ticktext == ("&lt;b&gt;x&lt;/b&gt;",)
