"""In which order nodes go: empty ones, expired ones, then the others; those with a replica to be avoided after all.

Among equals those whose drain could miss its deadline come last, then what the policy prefers comes first, then what
is used least. Must not know what fits.
"""

from collections.abc import Callable, Mapping
from typing import Final

from shared.core.planning.candidates import AssessedNode
from shared.core.planning.prices import Prices
from shared.core.policy import Policy, Preference
from shared.core.reasons import DrainReason

_URGENCY: Final = {DrainReason.EMPTY: 0, DrainReason.EXPIRED: 1, DrainReason.UNDERUTILIZED: 2}


class RemovalOrder:
    """Keys by which nodes are sorted; the smallest goes first."""

    def __init__(self, policy: Policy, prices: Prices) -> None:
        words: Mapping[Preference, Callable[[AssessedNode], object]] = {
            Preference.EXPENSIVE: lambda each: -prices.of(each.node).per_hour,
            Preference.ON_DEMAND: lambda each: each.node.spot,
            Preference.SPOT: lambda each: not each.node.spot,
            Preference.OLD: lambda each: each.node.created,
        }
        self._preferences = [words[word] for word in policy.prefer]

    def urgency(self, assessed: AssessedNode) -> tuple[bool, int]:
        """Return what no other wish overrides."""
        return assessed.avoided, _URGENCY[assessed.reason]

    def __call__(self, assessed: AssessedNode) -> tuple[object, ...]:
        score = assessed.usage.score if assessed.usage else 0
        takes, name = assessed.estimate, assessed.node.name
        preferred = [key(assessed) for key in self._preferences]
        return (*self.urgency(assessed), takes.may_be_late, *preferred, score, takes.alone.most, name)
