"""A day or a week of a cluster in virtual time: its demand, its scheduler, its autoscaler, and Ebb beside it or not.

Start at `run`. The passes are those of `planning`; the world around them is this package's own, and simple
(docs/decisions/simulation.md). Nothing here is ordered.
"""
