"""Figures: pure functions from rows of result documents to Plotly figures."""
