"""Everything that talks to onnxruntime: sessions, conditions, and what the runtime made of a model."""
