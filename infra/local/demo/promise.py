"""Whether the demo kept the promise: budgets, PodDisruptionBudgets, pending pods and cordons."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from infra.local.demo.evidence import (
    Evidence,
    Json,
    ReplayedCluster,
    drained_by_us,
    is_ebb,
    is_in_wave,
    is_ours,
    last,
    node_changes,
    replay,
)

_HOUR: Final = 3600.0


def drain_starts(evidence: Evidence) -> list[tuple[float, str]]:
    return [(change.cluster.at, change.name) for change in node_changes(evidence.entries) if change.starts_a_drain]


def exceeded_limits(evidence: Evidence) -> Iterator[str]:
    """Count what was in use whenever a drain began: its claim, just before the cordon, had to count as much."""
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
    """Find nodes that Ebb cordoned and neither uncordoned nor had deleted in time."""
    since: dict[str, float] = {}
    by_us: set[str] = set()
    for change in node_changes(evidence.entries):
        began = since.pop(change.name, change.cluster.at)
        if drained_by_us(change.after):
            since[change.name] = began
            by_us.add(change.name)
        if change.after is None or not change.after["unschedulable"]:
            by_us.discard(change.name)
    cluster = last(evidence.entries)
    for name, began in since.items():
        longest = evidence.limits.longest_cordon
        if cluster.at - began > longest:
            yield f"{name}: held by Ebb for {cluster.at - began:.0f} s at the end, allowed are {longest:.0f} s"
    for name in sorted(by_us - since.keys()):
        yield f"{name}: Ebb's taint is gone, its cordon is not"
    held = {name for name, node in cluster.nodes.items() if is_in_wave(node)}
    for name in sorted(held - evidence.costly):
        yield f"{name}: the soft taint of a wave is left at the end"


def meddling(evidence: Evidence) -> Iterator[str]:
    """Find what Ebb did to a node beyond its own taint and its own cordon."""
    for change in node_changes(evidence.entries):
        if not is_ebb(change.actor) or change.before is None:
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


def find_unexplained(evidence: Evidence) -> Iterator[str]:
    """Find passes in which a node had no verdict, several, or one without a reason, and nodes left out by the last."""
    for number, recorded in enumerate(evidence.passes, 1):
        names = Counter(name for name, _ in recorded.verdicts)
        yield from (f"pass {number}: {name} has {count} verdicts" for name, count in names.items() if count > 1)
        yield from (f"pass {number}: {name} has no reason" for name, reason in recorded.verdicts if not reason)
        if len(names) != recorded.nodes:
            yield f"pass {number}: {recorded.nodes} nodes and verdicts for {len(names)}"
    final = {name for name, _ in evidence.passes[-1].verdicts} if evidence.passes else set()
    for name in sorted(last(evidence.entries).nodes.keys() - final):
        yield f"{name}: in the cluster at the end, but without a verdict in the last pass"


MOST_UNSCHEDULABLE: Final = 30.0
"""Seconds (docs/decisions/promise.md)."""


def evictions(evidence: Evidence) -> list[Json]:
    return [entry for entry in evidence.entries if _is_our_eviction(entry)]


def _is_our_eviction(entry: Json) -> bool:
    return entry["type"] == "eviction" and is_ebb(entry["actor"])


def broken_budgets(evidence: Evidence) -> Iterator[str]:
    """Find evictions granted to Ebb that broke a budget, by the counts of pods that the API recorded at the grant."""
    for entry in evictions(evidence):
        for budget in entry["budgets"]:
            if budget["broken"] and not entry["terminating"]:
                left, required = budget["healthy_after"], f"{budget['name']} requires {budget['desired']}"
                namespace = entry["namespace"]
                yield f"{namespace}/{entry['name']}: its eviction left {left} healthy pods, PDB {namespace}/{required}"


def left_without_place(evidence: Evidence) -> Iterator[str]:
    """Find replacements of evicted pods that were unschedulable too long, and pods still Pending at the end."""
    moved: set[str] = set()
    since: dict[str, float] = {}
    reported: set[str] = set()
    for entry, _, cluster in replay(evidence.entries):
        if _is_our_eviction(entry):
            moved.add(cluster.pods[entry["uid"]]["owner"] if entry["uid"] in cluster.pods else "")
        if entry["type"] == "change" and entry["kind"] == "pods":
            _follow(entry, since)
        for uid, began in since.items():
            pod = cluster.pods.get(uid)
            if uid not in reported and pod and pod["owner"] in moved and entry["at"] - began > MOST_UNSCHEDULABLE:
                reported.add(uid)
                yield f"{pod['namespace']}/{pod['name']}: unschedulable for over {MOST_UNSCHEDULABLE:.0f} s"
    for pod in last(evidence.entries).pods.values():
        if pod["phase"] == "Pending":
            yield f"{pod['namespace']}/{pod['name']}: still Pending at the end"


def _follow(entry: Json, since: dict[str, float]) -> None:
    if entry["unschedulable"] and entry["verb"] != "delete":
        since.setdefault(entry["uid"], entry["at"])
    else:
        since.pop(entry["uid"], None)


def deleted_by_ebb(evidence: Evidence) -> Iterator[str]:
    for entry in evidence.entries:
        if entry["type"] == "request" and entry["verb"] == "DELETE" and is_ebb(entry["user_agent"]):
            yield f"Ebb requested DELETE {entry['path']}"


@dataclass(frozen=True)
class PromiseResult:
    """One promise: its sentence, what was examined for it, and each breach that was found."""

    promise: str
    examined: str
    breaches: tuple[str, ...]

    @property
    def kept(self) -> bool:
        return not self.breaches


def _idle(evidence: Evidence) -> Iterator[str]:
    if not drain_starts(evidence):
        yield "no drain began: the record proves nothing"
    if not evictions(evidence):
        yield "no pod was evicted: the record proves nothing"
    if not evidence.passes:
        yield "the planner made no pass: the record proves nothing"


def _requests(evidence: Evidence) -> list[Json]:
    return [entry for entry in evidence.entries if entry["type"] == "request"]


_PROMISES: Final = (
    ("Ebb was at work", "drains", drain_starts, _idle),
    ("No PodDisruptionBudget was broken", "evictions", evictions, broken_budgets),
    ("No budget, ceiling, rate or minimum was exceeded", "drains", drain_starts, exceeded_limits),
    ("No pod was left without a place", "evictions", evictions, left_without_place),
    ("No cordon or soft taint stands for nothing", "drains", drain_starts, cordons_for_nothing),
    ("Only its own taint and cordon were touched", "drains", drain_starts, meddling),
    ("Ebb deleted no pod and no node", "requests", _requests, deleted_by_ebb),
    ("Each node has one verdict with its reason", "passes", attrgetter("passes"), find_unexplained),
)
"""Each promise, what the record holds for it, and the search for breaches."""


def check(evidence: Evidence) -> tuple[PromiseResult, ...]:
    """Judge every promise. A record in which Ebb did nothing keeps none: it proves nothing."""
    return tuple(
        PromiseResult(name, f"{len(examined(evidence))} {what}", tuple(find(evidence)))
        for name, what, examined, find in _PROMISES
    )
