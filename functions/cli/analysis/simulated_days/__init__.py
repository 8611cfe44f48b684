"""A day or a week of a cluster in virtual time: its demand, its scheduler, its autoscaler, with or without Ebb.

Start at `run`. Passes, healing and drains are those of the core. The world around them is this package's own, and
simple (docs/decisions/simulation.md).
"""
