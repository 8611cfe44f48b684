"""Which real drains a change of policy starts, adds or stops: of how many nodes at most, from when, how fast.

A dry run, a pause and a policy without an enabled pool drain nothing. Else a forecast finds which nodes go, and when
the gates of the passes (windows, budgets, rates) let each of their drains begin. It is the forecast with most drains:
all marks are old, and the autoscaler removes nothing by itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from functions.cli.analysis.forecast.steady_state import find_steady_state
from functions.cli.analysis.forecast.unpaced_pass import Workings
from functions.cli.input.inputs import Inputs
from functions.cli.output.format import clock, count
from functions.cli.policy.pace import most_in_an_hour
from shared.core.policy import Policy
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation

_OFF: Final[tuple[tuple[str, Callable[[Policy], bool]], ...]] = (
    ("dryRun is true", lambda policy: policy.dry_run),
    ("paused is true", lambda policy: policy.paused),
    (
        "no pool is enabled",
        lambda policy: not any(pool.enabled for pool in (*policy.pools.values(), policy.other_pools)),
    ),
)
"""What keeps a policy from any drain."""


class DrainChange(StrEnum):
    """What a change of policy does to real drains, by its word in JSON."""

    NONE = "none"
    """Neither policy drains a node."""
    SAME = "same"
    STARTS = "starts"
    STOPS = "stops"
    MORE = "more"
    """More nodes, earlier, or more in an hour; and nothing of these less."""
    FEWER = "fewer"
    OTHER = "other"
    """Other nodes or times, or one figure more and another less."""
    UNKNOWN = "unknown"
    """Both policies may drain, and without a whole cluster nobody knows what."""


@dataclass(frozen=True, slots=True)
class RealDrains:
    """The drains that a policy starts."""

    off: str = ""
    """Why it drains nothing at all; else empty."""
    begins: Mapping[str, datetime] | None = field(default_factory=dict)
    """When the drain of each node begins, by its name; None if that is unknown."""
    is_rest: bool = True
    """Whether the forecast was followed until no more nodes go."""

    @property
    def nodes(self) -> int:
        return len(self.begins or ())

    @property
    def first(self) -> datetime | None:
        """When the first drain begins; None if none does."""
        return min((self.begins or {}).values(), default=None)

    @property
    def most_in_an_hour(self) -> int:
        return most_in_an_hour((self.begins or {}).values())

    def figures(self, now: datetime | None) -> str:
        """Return how many, from when and how fast: `up to 15 nodes, from 20:00 UTC on, at most 6 in an hour`."""
        if not self.first:
            return "no node"
        nodes = f"up to {count(self.nodes, 'node')}" if self.is_rest else f"{count(self.nodes, 'node')} or more"
        return (
            f"{nodes}, from {clock(self.first, now or self.first)} UTC on, at most {self.most_in_an_hour:,} in an hour"
        )


def real_drains(inputs: Inputs | None, policy: Policy) -> RealDrains:
    """Return the drains of a policy; without a whole cluster it is known only whether there may be any."""
    off = next((why for why, is_off in _OFF if is_off(policy)), "")
    if off:
        return RealDrains(off)
    if inputs is None:
        return RealDrains(begins=None)
    state, workings = ClusterState(last_pass=inputs.snapshot.taken_at), Workings(scales_down=False)
    situation = Situation(inputs.snapshot, state, inputs.committed_under(policy))
    rest = find_steady_state(situation, {}, inputs.prices, assume_marked=True, workings=workings).rest
    return RealDrains(begins=rest.begins, is_rest=rest.is_rest)


@dataclass(frozen=True, slots=True)
class DrainsCompared:
    """The real drains of two policies, when the cluster was read, and why they are unknown if they are."""

    before: RealDrains
    after: RealDrains
    now: datetime | None = None
    unknown: str = ""

    @property
    def change(self) -> DrainChange:
        """What the new policy does to real drains."""
        before, after = self.before, self.after
        if before.begins is None or after.begins is None:
            return DrainChange.STARTS if before.off else DrainChange.STOPS if after.off else DrainChange.UNKNOWN
        if before.begins == after.begins:
            return DrainChange.SAME if after.begins else DrainChange.NONE
        if not before.begins or not after.begins:
            return DrainChange.STARTS if after.begins else DrainChange.STOPS
        more, fewer = _is_at_least(after, before), _is_at_least(before, after)
        return DrainChange.OTHER if more == fewer else DrainChange.MORE if more else DrainChange.FEWER

    @property
    def sentence(self) -> str:
        """The first thing to read of a change of policy."""
        after, before = (drains.figures(self.now) for drains in (self.after, self.before))
        off = self.after.off or "the forecast finds no node that may go"
        until_now = "" if self.before.begins is None else f" Until now: {before}."
        starts = f". {self.unknown}" if self.after.begins is None else f": {after}."
        others = f"which nodes are drained, or when: {after}, as until now."
        return {
            DrainChange.NONE: f"No real drain starts: {off}.",
            DrainChange.SAME: f"Real drains stay the same: {after}.",
            DrainChange.STARTS: f"This starts real drains{starts}",
            DrainChange.STOPS: f"This stops real drains: {off}.{until_now}",
            DrainChange.MORE: f"This allows more real drains: {after}.{until_now}",
            DrainChange.FEWER: f"This allows fewer real drains: {after}.{until_now}",
            DrainChange.OTHER: f"This changes {others if after == before else f'real drains: {after}.{until_now}'}",
            DrainChange.UNKNOWN: f"This may change real drains. {self.unknown}",
        }[self.change]


def _is_at_least(one: RealDrains, other: RealDrains) -> bool:
    """Whether one drains as many nodes as the other, as early and as fast; both drain some."""
    is_as_early = min((one.begins or {}).values()) <= min((other.begins or {}).values())
    return is_as_early and one.nodes >= other.nodes and one.most_in_an_hour >= other.most_in_an_hour
