"""Reports: documents as tables for reading in a terminal; figures with unit and three significant digits."""
