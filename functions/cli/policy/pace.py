"""The pace of a night for `ebb policy init`: as fast as budgets allow, if by a forecast this moves no more pods.

A slow policy is not a gentle one. While it waits, the autoscaler and a scheduler that spreads fill again what goes
next. So limits are lifted first, and then written as the forecast needed them: they hold back a surprise.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from math import ceil
from typing import Final

from functions.cli.analysis.forecast.steady_state import PolicyAtRest, Rest, find_steady_state
from functions.cli.output.format import count, duration
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.prices import Prices
from shared.core.policy import Policy
from shared.core.policy.schedule import hits
from shared.core.records.state import ClusterState
from shared.core.rules.counts import denominator
from shared.core.rules.situation import Situation

HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)
_CAREFUL_GAP: Final = timedelta(minutes=10)
_CAREFUL_PASSES: Final = 30
"""Half of the passes that a night of ten hours has at that gap: a pass may find every node waiting for another."""
_CAREFUL_RATE: Final = "20%"
_LIKELY_SHARE: Final = 2
"""Half of the nodes may go, as long as nothing is known of them."""
_NOISE: Final = 1.1
"""Evictions a node that are a tenth more are no difference: one node more or less in the forecast makes it."""
_STEP: Final = 10
"""Percent that a rate is rounded up to."""


@dataclass(frozen=True, slots=True)
class NightPace:
    """How fast nodes go: between passes, in one pass by pool, in an hour; and the forecast in a sentence."""

    gap: timedelta
    per_pass: Mapping[str, int]
    rate: str
    forecast: str = ""
    is_forecast: bool = False
    """Whether the numbers are those that the forecast needs, and not guessed."""


def careful_pace(snapshot: Snapshot) -> NightPace:
    """Return a pace by which half of the nodes could go in one night."""
    likely = ceil(len(snapshot.nodes) / _LIKELY_SHARE)
    nodes = {pool: min(likely, len(own)) for pool, own in snapshot.nodes_by_pool.items()}
    return NightPace(_CAREFUL_GAP, {pool: ceil(own / _CAREFUL_PASSES) for pool, own in nodes.items()}, _CAREFUL_RATE)


def pace_of_a_night(
    situation: Situation, policy: Policy, careful: NightPace, prices: Prices
) -> tuple[NightPace, PolicyAtRest]:
    """Return the pace that budgets alone set, or the careful one of this policy if that moves fewer pods for a node.

    With it the steady state of a policy of that pace.
    """
    policy = replace(policy, dry_run=False)
    tonight = in_the_night(situation.snapshot, policy)
    slow, fast = (
        find_steady_state(Situation(tonight, ClusterState(), paced), {}, prices)
        for paced in (policy, replace(policy, rate=None))
    )
    if not fast.rest.begins or moves_more(fast.rest, slow.rest):
        return replace(careful, forecast=_sentence(slow)), slow
    return NightPace(timedelta(), _in_one_pass(fast), _in_an_hour(fast), _sentence(fast), is_forecast=True), fast


def in_the_night(snapshot: Snapshot, policy: Policy) -> Snapshot:
    """Return the snapshot as if it were of the time when the first window of the policy opens next."""
    windows = [window for pool in policy.pools.values() for window in pool.windows or ()]
    now = snapshot.taken_at
    opens = (next(hits(window, now, now + DAY), now) for window in windows)
    return replace(snapshot, taken_at=min(opens, default=now))


def moves_more(one: Rest, other: Rest) -> bool:
    """Whether one takes more evictions for each node that goes, by more than a forecast is sure of."""
    return _evictions(one) > _evictions(other) * _NOISE


def _evictions(rest: Rest) -> float:
    """Return the evictions for each node that goes."""
    return rest.evictions / max(rest.gone, 1)


def _in_one_pass(steady: PolicyAtRest) -> Mapping[str, int]:
    """Return by pool the most nodes whose drains begin in one pass."""
    pools = steady.situation.snapshot.node_by_name
    begun = Counter((pools[name].pool, at) for name, at in steady.rest.begins.items())
    found: dict[str, int] = {}
    for (pool, _), nodes in begun.items():
        found[pool] = max(found.get(pool, 0), nodes)
    return found


def _in_an_hour(steady: PolicyAtRest) -> str:
    """Return the most drains that begin in any hour, as a share of the nodes that a rate counts, rounded up."""
    share = 100 * most_in_an_hour(steady.rest.begins.values()) / denominator(steady.situation.snapshot.nodes)
    return f"{min(100, ceil(share / _STEP) * _STEP)}%"


def most_in_an_hour(times: Iterable[datetime]) -> int:
    """Return how many of these times lie in one hour, at most."""
    times = tuple(times)
    return max((sum(begin <= time < begin + HOUR for time in times) for begin in set(times)), default=0)


def _sentence(steady: PolicyAtRest) -> str:
    now, rest = steady.situation, steady.rest
    if rest.by is None:
        alone = f" The autoscaler removes {count(rest.gone, 'node')} by itself." if rest.gone else ""
        return f"no node goes by this policy.{alone}"
    left, minutes = len(rest.snapshot.nodes), timedelta(minutes=ceil((rest.by - now.now) / timedelta(minutes=1)))
    nodes = f"{left:,} of {count(len(now.snapshot.nodes), 'node')} stay after {duration(minutes)}"
    more = "" if rest.is_rest else " The forecast ends there; more may go."
    return f"{nodes}, with {_evictions(rest):.1f} evictions for a node that goes.{more}"
