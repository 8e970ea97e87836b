"""The dashboard in a real browser, its server and jobs in real processes."""
