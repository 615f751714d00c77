"""The pytest plugin: per-test events from any pytest below a recorded command."""
