"""How much each group, lowered alone, harms the outputs."""
