"""One test class per seam: whatever takes a place must pass it."""
