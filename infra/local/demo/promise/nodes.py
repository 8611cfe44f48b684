"""The promises about nodes: budgets and minimums, cordons, persons' cordons, one verdict for each."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from infra.local.demo.promise.evidence import Evidence, Json
from infra.local.demo.promise.replay import ReplayedCluster, drained_by_us, is_ours, last, node_changes

_HOUR: Final = 3600.0


def starts(evidence: Evidence) -> list[tuple[float, str]]:
    """Return when Ebb began to drain which node."""
    return [(change.cluster.at, change.name) for change in node_changes(evidence.entries) if change.starts_a_drain]


def exceeded_limits(evidence: Evidence) -> Iterator[str]:
    """Count, whenever a drain began, what was in use by then.

    A claim is made just before its cordon, so what the record counts is at most what the claim had to count.
    """
    begun: list[float] = []
    for change in node_changes(evidence.entries):
        if change.starts_a_drain:
            begun.append(change.cluster.at)
            recent = sum(at > change.cluster.at - _HOUR for at in begun)
            for fault in _over(evidence, change.cluster, recent):
                yield f"{change.name}: its drain began with {fault}"


def _over(evidence: Evidence, cluster: ReplayedCluster, recent: int) -> Iterator[str]:
    limits, used = evidence.limits, cluster.in_use()
    pools = Counter(node["pool"] for node in used)
    for pool, limit in limits.pools.items():
        if pools[pool] > limit:
            yield f"{pools[pool]} nodes of pool {pool} in use, allowed are {limit}"
    if limits.ceiling is not None and len(used) > limits.ceiling:
        yield f"{len(used)} nodes of the cluster in use, allowed are {limits.ceiling}"
    if limits.starts_per_hour is not None and recent > limits.starts_per_hour:
        yield f"{recent} drains within an hour, allowed are {limits.starts_per_hour}"
    left = sum(not drained_by_us(node) for node in cluster.nodes.values())
    if left < limits.minimum_nodes:
        yield f"{left} nodes left, the minimum is {limits.minimum_nodes}"


def cordons_for_nothing(evidence: Evidence) -> Iterator[str]:
    """Find nodes that Ebb cordoned and neither gave back nor had deleted in time."""
    since: dict[str, float] = {}
    by_us: set[str] = set()
    for change in node_changes(evidence.entries):
        since_now = since.get(change.name, change.cluster.at)
        since.pop(change.name, None)
        if drained_by_us(change.after):
            since[change.name] = since_now
            by_us.add(change.name)
        if change.after is None or not change.after["unschedulable"]:
            by_us.discard(change.name)
    cluster = last(evidence.entries)
    for name, began in since.items():
        if cluster.at - began > evidence.limits.longest_cordon:
            longest = evidence.limits.longest_cordon
            yield f"{name}: held by Ebb for {cluster.at - began:.0f} s at the end, allowed are {longest:.0f} s"
    for name in sorted(by_us - since.keys()):
        yield f"{name}: Ebb's taint is gone, its cordon is not"


def meddling(evidence: Evidence) -> Iterator[str]:
    """Find what Ebb did to a node beyond its own taint and its own cordon."""
    for change in node_changes(evidence.entries):
        if not change.by_ebb or change.before is None:
            continue
        if change.after is None:
            yield f"{change.name}: deleted by Ebb"
            continue
        yield from (f"{change.name}: {fault}" for fault in _strange(change.before, change.after))
    cluster = last(evidence.entries)
    for name in sorted(evidence.cordoned_by_persons):
        if name in cluster.nodes and not cluster.nodes[name]["unschedulable"]:
            yield f"{name}: a person cordoned it, and it is uncordoned"


def _strange(before: Json, after: Json) -> Iterator[str]:
    foreign = {taint for taint in {*before["taints"]} ^ {*after["taints"]} if not is_ours(taint)}
    if foreign:
        yield f"Ebb changed taints that are not its own: {', '.join(sorted(foreign))}"
    if before["unschedulable"] and not after["unschedulable"] and not drained_by_us(before):
        yield "Ebb undid a cordon that was not its own"
    if before["unschedulable"] and drained_by_us(after) and not drained_by_us(before):
        yield "Ebb took a node that somebody else had cordoned"


def unexplained(evidence: Evidence) -> Iterator[str]:
    """Find passes in which a node had no verdict, several, or one without a reason, and nodes left out by the last."""
    for number, each in enumerate(evidence.passes, 1):
        names = Counter(name for name, _ in each.verdicts)
        yield from (f"pass {number}: {name} has {count} verdicts" for name, count in names.items() if count > 1)
        yield from (f"pass {number}: {name} has no reason" for name, reason in each.verdicts if not reason)
        if len(names) != each.nodes:
            yield f"pass {number}: {each.nodes} nodes and verdicts for {len(names)}"
    final = {name for name, _ in evidence.passes[-1].verdicts} if evidence.passes else set()
    for name in sorted(last(evidence.entries).nodes.keys() - final):
        yield f"{name}: in the cluster at the end, and the last pass said nothing of it"
