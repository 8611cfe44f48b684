"""What differs between two policies: real drains, settings, verdicts, scenarios; and its JSON.

A dry run, a pause and a policy without an enabled pool drain nothing. Else a forecast finds which nodes go, and when
the gates of the passes let each drain begin: all marks are old, and the autoscaler removes nothing by itself.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property
from itertools import zip_longest
from typing import Any, Final

from functions.cli.analysis.forecast.scenarios import Scenarios
from functions.cli.analysis.forecast.steady_state import find_steady_state
from functions.cli.analysis.forecast.unpaced_pass import Workings
from functions.cli.input.inputs import Inputs
from functions.cli.output.format import clock, count, rfc3339
from functions.cli.plan.scenarios import scenario_documents
from functions.cli.plan.sentences import VERDICTS
from functions.cli.policy.words import CLUSTER, cluster_settings, pool_settings
from shared.core.planning.plan import NodeDecision, Plan
from shared.core.policy import Policy
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation

HOUR: Final = timedelta(hours=1)


class DrainChange(StrEnum):
    """What a change of policy does to real drains, by its word in JSON."""

    NONE = "none"  # Neither policy drains a node.
    SAME = "same"
    STARTS = "starts"
    STOPS = "stops"
    MORE = "more"  # More nodes, earlier, or more in an hour; and nothing of these less.
    FEWER = "fewer"
    OTHER = "other"  # Other nodes or times, or one figure more and another less.
    UNKNOWN = "unknown"  # Both policies may drain, and without a whole cluster nobody knows what.


@dataclass(frozen=True, slots=True)
class RealDrains:
    off: str = ""  # Why it drains nothing at all; else empty.
    begins: Mapping[str, datetime] | None = field(default_factory=dict)
    """When the drain of each node begins, by its name; None if that is unknown."""
    is_rest: bool = True  # Whether the forecast was followed until no more nodes go.

    @property
    def nodes(self) -> int:
        return len(self.begins or ())

    @property
    def first(self) -> datetime | None:
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
    pools = (*policy.pools.values(), policy.other_pools)
    none = not any(pool.enabled for pool in pools)
    holds = {"dryRun is true": policy.dry_run, "paused is true": policy.paused, "no pool is enabled": none}
    if off := next((why for why, is_off in holds.items() if is_off), ""):
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


def most_in_an_hour(times: Iterable[datetime]) -> int:
    times = tuple(times)
    return max((sum(begin <= time < begin + HOUR for time in times) for begin in set(times)), default=0)


UNKNOWN: Final = "Not all pods of this cluster are known, so its steady state is unknown."


@dataclass(frozen=True)
class Impact:
    """Plan and scenarios before and after; without scenarios not all of the cluster is known."""

    before: Plan
    after: Plan
    scenarios: tuple[Scenarios, ...]
    notes: tuple[str, ...]


SETTINGS_ONLY: Final = (
    "No cluster was named, so only settings are compared; --dump, --kubeconfig or --context compares verdicts too."
)
SAME: Final = "Nothing changes: the same settings hold."
NOTHING: Final = "Nothing changes: the same settings hold, and every node keeps its verdict."


@dataclass(frozen=True, slots=True)
class PolicyChange:
    """One thing that was so and will be otherwise; `place` is the pool of a node, or whose setting it is."""

    place: str
    name: str
    old: str
    new: str


def settings(old: Policy, new: Policy) -> tuple[PolicyChange, ...]:
    """Return the effective settings that differ: the cluster's, each pool's, and those of pools that neither names."""
    pools = sorted({*old.pools, *new.pools})
    sections = [(CLUSTER, cluster_settings(old), cluster_settings(new))]
    sections += [(f"pool {name}", pool_settings(old.pool(name)), pool_settings(new.pool(name))) for name in pools]
    sections += [("every other pool", pool_settings(old.other_pools), pool_settings(new.other_pools))]
    return tuple(
        PolicyChange(place, name, before[name], after[name])
        for place, before, after in sections
        for name in before
        if before[name] != after[name]
    )


def verdicts(old: Plan, new: Plan) -> tuple[PolicyChange, ...]:
    """Return the nodes of one snapshot whose verdict or reason differs between two plans."""
    pairs = zip(old.decisions, new.decisions, strict=True)
    rows = (PolicyChange(before.pool, before.name, _verdict(before), _verdict(after)) for before, after in pairs)
    return tuple(sorted((row for row in rows if row.old != row.new), key=lambda row: (row.old, row.new, row.name)))


def _verdict(decision: NodeDecision) -> str:
    return ": ".join(part for part in (VERDICTS[decision.verdict], decision.reason) if part)


@dataclass(frozen=True)
class PolicyDiff:
    """All that differs between two policies; without a cluster `impact` is None, and settings alone are compared."""

    settings: tuple[PolicyChange, ...]
    drains: DrainsCompared
    impact: Impact | None = None

    @cached_property
    def verdicts(self) -> tuple[PolicyChange, ...]:
        return verdicts(self.impact.before, self.impact.after) if self.impact else ()

    @property
    def notes(self) -> tuple[str, ...]:
        return self.impact.notes if self.impact else (SETTINGS_ONLY,)

    @property
    def same(self) -> str:
        """The sentence that nothing changes; empty where something does."""
        if self.settings or self.verdicts:
            return ""
        return NOTHING if self.impact else SAME


SCHEMA: Final = 1


def document(found: PolicyDiff) -> dict[str, Any]:
    """Return what differs as JSON values (docs/orders.md, policy diff JSON): an outside contract."""
    impact = found.impact
    ladders = [scenario_documents(scenarios) for scenarios in impact.scenarios] if impact else []
    return {
        "schema": SCHEMA,
        "cluster": (impact.before.cluster or None) if impact else None,
        "taken_at": rfc3339(impact.before.taken_at) if impact else None,
        "drains": {
            "change": found.drains.change.value,
            "sentence": found.drains.sentence,
            "before": _drains(found.drains.before),
            "after": _drains(found.drains.after),
        },
        "settings": _changes(found.settings, "setting"),
        "verdicts": _changes(found.verdicts, "node"),
        "ladder": dict(zip_longest(("before", "after"), ladders, fillvalue=[])),
    }


def _drains(drains: RealDrains) -> dict[str, Any]:
    """Return the real drains of one policy; all figures are null where they are unknown."""
    is_known = drains.begins is not None
    return {
        "off": drains.off or None,
        "nodes": drains.nodes if is_known else None,
        "from": rfc3339(drains.first) if drains.first else None,
        "most_in_an_hour": drains.most_in_an_hour if is_known else None,
        "is_rest": drains.is_rest if is_known else None,
    }


def _changes(changes: Iterable[PolicyChange], name: str) -> list[dict[str, str]]:
    place = "pool" if name == "node" else "where"
    return [{place: change.place, name: change.name, "before": change.old, "after": change.new} for change in changes]
