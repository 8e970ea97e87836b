"""What is asked: ordered rules in, one decision per layer out."""
