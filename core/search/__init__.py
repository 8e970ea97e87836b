"""Auto-mix: the fastest mix that keeps the target, measured before it is called better."""
