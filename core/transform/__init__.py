"""From a plan to a candidate: ranges, placement of Q/DQ, and reading back what the runtime made of it."""
