"""Database rows and content-addressed files: knows no model."""
