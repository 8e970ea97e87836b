"""Tasks: everything joined, one file per kind of work; what a job's child process runs."""
