"""One short script per page of the top bar."""
