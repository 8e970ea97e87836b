"""Mixdesk's engine: a mixing desk for ONNX models, without any user interface."""

__version__ = "0.1.0"
