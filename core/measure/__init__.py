"""Numbers about models: time per layer, speed-ups with intervals, fidelity, accuracy, targets."""
