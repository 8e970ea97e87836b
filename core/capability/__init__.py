"""What this machine makes of an operator in a precision, found by building, running and reading back."""
