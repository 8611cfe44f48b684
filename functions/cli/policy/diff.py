"""What differs between two policies: real drains, settings, verdicts, scenarios; and its JSON."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Any, Final

from functions.cli.analysis.forecast.scenarios import Scenarios
from functions.cli.output.format import rfc3339
from functions.cli.plan.scenarios import scenario_documents
from functions.cli.plan.sentences import VERDICTS
from functions.cli.policy.real_drains import DrainsCompared, RealDrains
from functions.cli.policy.words import CLUSTER, cluster_settings, pool_settings
from shared.core.planning.plan import NodeDecision, Plan
from shared.core.policy import Policy

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
    return tuple(change for place, before, after in sections for change in _differences(place, before, after))


def _differences(place: str, old: Mapping[str, str], new: Mapping[str, str]) -> Iterable[PolicyChange]:
    return (PolicyChange(place, name, old[name], new[name]) for name in old if old[name] != new[name])


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
        """What it rests on."""
        return self.impact.notes if self.impact else (SETTINGS_ONLY,)

    @property
    def same(self) -> str:
        """The sentence that nothing changes; empty where something does."""
        if self.settings or self.verdicts:
            return ""
        return NOTHING if self.impact else SAME


SCHEMA: Final = 1


def document(found: PolicyDiff) -> dict[str, Any]:
    """Return what differs as JSON values (docs/orders.md, policy diff JSON): an outside contract.

    The scenarios are empty if no cluster was named, or it is not whole.
    """
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
