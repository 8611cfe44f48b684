"""Does it all fit together? The proof of placement behind every order, and the search for how far a cluster can shrink.

Start at `board`. Must not decide who may be moved (`drainability`) or which node goes first (`planning`).
"""

from shared.core.placement.search import Candidate, Found, search
from shared.core.placement.simulation import Board, NoPlace

__all__ = ("Board", "Candidate", "Found", "NoPlace", "search")
