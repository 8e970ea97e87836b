"""Commands, one per file: read the request, run the job, print the answer."""
