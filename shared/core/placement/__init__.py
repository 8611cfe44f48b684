"""Does it all fit together? The proof of placement behind every order, and the search. Start at `simulation`."""

from shared.core.placement.search import Candidate, SearchResult, Use, never, search
from shared.core.placement.simulation import NoPlace, Simulation

__all__ = ("Candidate", "NoPlace", "SearchResult", "Simulation", "Use", "never", "search")
