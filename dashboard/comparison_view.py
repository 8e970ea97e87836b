"""Comparison view: the tiles of a candidate, which the page and the HTML report share."""

from core.report.tiles import Tile, Verdict, accuracy, energy, latency, sqnr, tiles

__all__ = ["Tile", "Verdict", "accuracy", "energy", "latency", "sqnr", "tiles"]
