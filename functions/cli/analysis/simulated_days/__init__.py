"""A day or a week of a cluster in virtual time (docs/decisions/simulation.md). Start at `run`."""
