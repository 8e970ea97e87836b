"""Graph: layers, groups, costs and layout, keyed by stable layer ids."""
