"""The browser face of Mixdesk: pages that call the engine and draw what it says."""
