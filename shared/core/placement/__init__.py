"""Does it all fit together? The proof of placement behind every order, and the search. Start at `simulation`."""

from shared.core.placement.search import SearchResult, never, search
from shared.core.placement.simulation import NoPlace, Simulation
from shared.core.placement.tally import Candidate, Use

__all__ = ("Candidate", "NoPlace", "SearchResult", "Simulation", "Use", "never", "search")
