"""Queue, supervised child processes and their progress: knows commands, not models."""
