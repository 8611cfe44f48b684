"""One source read and planned in a process of its own; two readings of one cluster count once.

Shared commitments are divided by use, which is known when all are read: such clusters are planned once more.
"""

import copyreg
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from functions.cli.dumps.homes import ClusterSigns, Home, home_named
from functions.cli.errors import message_of
from functions.cli.fleet.sources import ClusterSource, FleetPlanning
from functions.cli.input.commitments import COUNTED_BY_EACH, SHARED
from functions.cli.input.inputs import Inputs, inputs_of
from functions.cli.input.options import Sources
from functions.cli.input.readers import POOLS_OF_API, Reading, from_cluster, from_dumps
from functions.cli.output.format import group, moment, some
from functions.cli.plan.compute import PlanOptions, plan_cluster
from functions.cli.plan.view import PlanView
from shared.adapters.process import no_search_for_cycles, system_time
from shared.core.cluster.node import region_of
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.prices import Prices
from shared.core.policy import Policy
from shared.core.policy.values import Capacity, Commitments
from shared.errors import EbbError

DIVIDED: Final = "The commitments that {clusters} share are divided by what each of them uses."
ALL: Final = ""  # Of what a share is for the flexible commitment: all families together.


@dataclass(frozen=True)
class SharedUse:
    """Use of one cluster on demand, in micro-dollars an hour by family, and the clusters that share its commitments."""

    region: str
    clusters: tuple[str, ...]
    used: Mapping[str, int]


def use_of(policy: Policy, snapshot: Snapshot, prices: Prices, home: Home | None) -> SharedUse | None:
    """Return the use of a cluster whose policy names it among those that share commitments; None of any other."""
    clusters, named = policy.commitments.shared_by, home_named(snapshot.cluster) or home
    names = {snapshot.cluster, named.name if named else ""}
    if not policy.commitments or not snapshot.nodes or names.isdisjoint(clusters):
        return None
    used = dict.fromkeys((ALL, *(commitment.family for commitment in policy.commitments.families)), 0)
    for node in snapshot.nodes:
        size = None if node.spot or node.outside else prices.size(node.machine)
        for family in (size[0], ALL) if size else ():
            used[family] = used.get(family, 0) + prices.of(node).per_hour
    return SharedUse(region_of(snapshot.nodes), tuple(sorted(clusters)), used)


def share_commitments(uses: Mapping[str, SharedUse]) -> Mapping[str, Mapping[str, Fraction]]:
    """Return by cluster its share of each family and of all, for clusters that share with another of these."""
    groups = group(((use.region, use.clusters), use) for use in uses.values())
    pairs = {name: (use, groups[use.region, use.clusters]) for name, use in uses.items()}
    return {name: _shares(use, own) for name, (use, own) in pairs.items() if len(own) > 1}


def _shares(own: SharedUse, sharing: Sequence[SharedUse]) -> Mapping[str, Fraction]:
    """Return the cluster's share of its group by money; what none of them uses is divided evenly."""
    totals = {family: sum(use.used.get(family, 0) for use in sharing) for member in sharing for family in member.used}
    evenly = Fraction(1, len(sharing))
    return {family: Fraction(own.used.get(family, 0), total) if total else evenly for family, total in totals.items()}


def divide_commitments(commitments: Commitments, share: Mapping[str, Fraction]) -> Commitments:
    """Return the part of one cluster, by its share of each family and of all."""

    def part(family: str) -> Fraction:
        return share.get(family, Fraction(1))

    flexible, elsewhere = commitments.flexible, commitments.elsewhere
    return replace(
        commitments,
        families=tuple(replace(own, size=_of(own.size, part(own.family))) for own in commitments.families),
        flexible=replace(flexible, per_hour=flexible.per_hour * part(ALL)) if flexible else None,
        elsewhere=None if elsewhere is None else {name: _of(size, part(name)) for name, size in elsewhere.items()},
    )


def _of(size: Capacity, share: Fraction) -> Capacity:
    return Capacity(size.vcpu * share, size.gib * share)


_PREFIX: Final = "EBB_"


@dataclass(frozen=True)
class PlannedCluster:
    """One cluster as it was planned; by its `signs` a second reading is recognised, as in a plan of several dumps."""

    source: str
    view: PlanView
    home: Home | None
    signs: ClusterSigns
    use: SharedUse | None = None


@dataclass(frozen=True)
class SourceResult:
    source: ClusterSource
    clusters: tuple[PlannedCluster, ...] = ()
    faults: tuple[str, ...] = ()


def _freeze_rows(rows: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(rows)


# Python itself sends no frozen mapping between processes, nor its type: what a view holds of them goes as plain rows.
copyreg.pickle(MappingProxyType, lambda frozen: (_freeze_rows, (dict(frozen),)))


def be_quiet() -> None:
    """Begin a process of the fleet without output: the first process shows the progress."""
    sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for as long as the process lives


def read_source(source: ClusterSource, planning: FleetPlanning) -> SourceResult:
    """Read and plan all clusters of one source in a process that does nothing else meanwhile."""
    for name in [variable for variable in os.environ if variable.startswith(_PREFIX)]:
        del os.environ[name]
    os.environ.update(source.environment)
    return plan_source(source, planning)


def plan_source(source: ClusterSource, planning: FleetPlanning) -> SourceResult:
    """Read and plan all clusters of one source; what Ebb names as a failure is its result."""
    try:
        return SourceResult(source, tuple(_plan_reading(reading, source, planning) for reading in _readings(source)))
    except EbbError as failure:
        return SourceResult(source, faults=tuple(message_of(failure).splitlines()))


def _readings(source: ClusterSource) -> tuple[Reading, ...]:
    if source.dumps:
        return tuple(map(_name_by_nodes, from_dumps(source.dumps)))
    return (from_cluster(source.kubeconfig, source.context) if source.context else _of_installation(),)


def _name_by_nodes(reading: Reading) -> Reading:
    """Return the reading under the name that its nodes show, with that of its file."""
    home = reading.dump.home if reading.dump else ()
    known = any(home) and not reading.cluster.startswith(f"{home} (")
    return replace(reading, cluster=f"{home} ({reading.cluster})") if known else reading


def _of_installation() -> Reading:
    """Read a cluster as the functions do: its way in and its pools from the GKE API."""
    from shared.settings import read_settings
    from shared.wiring import cluster_of, pools_of

    settings, now = read_settings(os.environ), system_time()
    found, pools = cluster_of(settings).read(), pools_of(settings).read()
    return Reading(settings.cluster, found, pools, now, POOLS_OF_API.format(cluster=settings.cluster), installed=True)


def _plan_reading(reading: Reading, source: ClusterSource, planning: FleetPlanning) -> PlannedCluster:
    home = reading.dump.home if reading.dump else None
    policy = planning.policy_of(reading.cluster, home)
    inputs = inputs_of(Sources(source.dumps, prices=planning.prices), policy, reading, planning.committed)
    use = use_of(inputs.policy, inputs.snapshot, inputs.prices, home)
    inputs = _with_its_share(inputs, planning.shares.get(inputs.snapshot.cluster))
    with no_search_for_cycles():
        view = plan_cluster(inputs, PlanOptions(assume_marked=planning.assume_marked))
    place = home_named(inputs.snapshot.cluster) or Home(region=region_of(inputs.snapshot.nodes))
    signs = reading.dump.signs if reading.dump else ClusterSigns.of((), (place,), inputs.snapshot.nodes)
    return PlannedCluster(source.name, view.summed_up, home, signs, use)


def _with_its_share(inputs: Inputs, share: Mapping[str, Fraction] | None) -> Inputs:
    """Return the inputs with the cluster's part of what it shares, or with a note that it counts everything."""
    commitments = inputs.policy.commitments
    if not commitments:
        return inputs
    if share is None:
        return replace(inputs, notes=(*inputs.notes, COUNTED_BY_EACH))
    whose = some(commitments.shared_by, 20)
    notes = tuple(note for note in inputs.notes if note != SHARED.format(clusters=whose))
    policy = replace(inputs.policy, commitments=divide_commitments(commitments, share))
    return replace(inputs, policy=policy, notes=(*notes, DIVIDED.format(clusters=whose)))


OLDER: Final = "{name} is the same cluster as {other} and was read earlier, at {time}: it is not counted."


def drop_older_readings(results: Iterable[SourceResult]) -> tuple[list[PlannedCluster], tuple[str, ...]]:
    """Return each cluster once, as it was read last, and a note for each earlier reading."""
    every = (cluster for result in results for cluster in result.clusters)
    kept: list[PlannedCluster] = []
    notes: list[str] = []
    for cluster in sorted(every, key=lambda cluster: cluster.view.plan.taken_at, reverse=True):
        newer = next((known for known in kept if known.signs.are_of_one(cluster.signs)), None)
        if newer is None:
            kept.append(cluster)
        else:
            plan = cluster.view.plan
            notes.append(OLDER.format(name=plan.cluster, other=newer.source, time=moment(plan.taken_at)))
    return kept, tuple(notes)
