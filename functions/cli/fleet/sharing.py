"""Commitments that clusters of a fleet share: divided by what each of them uses, so that their savings add up.

Which part a cluster has is known when all are read. So these clusters are planned once more, with their part.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from functions.cli.fleet.sources import parts_of
from shared.core.planning.prices import Prices
from shared.core.policy import Policy
from shared.core.policy.values import Capacity, Commitments

if TYPE_CHECKING:
    from functions.cli.dumps.homes import Home
    from shared.core.cluster.snapshot import Snapshot

DIVIDED: Final = "The commitments that {clusters} share are divided by what each of them uses."
ALL: Final = ""
"""Of what a share is for the flexible commitment: all families together."""


@dataclass(frozen=True)
class SharedUse:
    """Use of one cluster on demand, in micro-dollars an hour by family, and the clusters that share its commitments."""

    region: str
    clusters: tuple[str, ...]
    used: Mapping[str, int]


def use_of(policy: Policy, snapshot: "Snapshot", prices: Prices, home: "Home | None") -> SharedUse | None:
    """Return the use of a cluster whose policy names it among those that share commitments; None of any other."""
    clusters, parts = policy.commitments.shared_by, parts_of(snapshot.cluster)
    names = {snapshot.cluster, *parts[2:]} if parts else {snapshot.cluster, home.name if home else ""}
    if not policy.commitments or not snapshot.nodes or names.isdisjoint(clusters):
        return None
    used = dict.fromkeys((ALL, *(each.family for each in policy.commitments.families)), 0)
    for node in snapshot.nodes:
        size = None if node.spot or node.outside else prices.size(node.machine)
        for family in (size[0], ALL) if size else ():
            used[family] = used.get(family, 0) + prices.of(node).per_hour
    return SharedUse(snapshot.nodes[0].region, tuple(sorted(clusters)), used)


def shares(uses: Mapping[str, SharedUse]) -> Mapping[str, Mapping[str, Fraction]]:
    """Return by cluster its share of each family and of all; without clusters that share with no other of these."""
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for name, use in uses.items():
        groups.setdefault((use.region, use.clusters), []).append(name)
    return {
        name: _shares(uses[name], [uses[other] for other in group])
        for group in groups.values()
        if len(group) > 1
        for name in group
    }


def _shares(own: SharedUse, group: Iterable[SharedUse]) -> Mapping[str, Fraction]:
    """Return the cluster's share of its group by money; what none of them uses is divided evenly."""
    rows = tuple(group)
    families = {family for each in rows for family in each.used}
    totals = {family: sum(each.used.get(family, 0) for each in rows) for family in families}
    evenly = Fraction(1, len(rows))
    return {family: Fraction(own.used.get(family, 0), total) if total else evenly for family, total in totals.items()}


def divided(commitments: Commitments, share: Mapping[str, Fraction]) -> Commitments:
    """Return the part of one cluster, by its share of each family and of all."""

    def part(family: str) -> Fraction:
        return share.get(family, Fraction(1))

    flexible, elsewhere = commitments.flexible, commitments.elsewhere
    return replace(
        commitments,
        families=tuple(replace(each, size=_of(each.size, part(each.family))) for each in commitments.families),
        flexible=replace(flexible, per_hour=flexible.per_hour * part(ALL)) if flexible else None,
        elsewhere=None if elsewhere is None else {name: _of(size, part(name)) for name, size in elsewhere.items()},
    )


def _of(size: Capacity, share: Fraction) -> Capacity:
    return Capacity(size.vcpu * share, size.gib * share)
