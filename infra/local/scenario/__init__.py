"""Scenario files: a cluster described in YAML, read strictly and built into a world."""
