"""Simulated days before the oracle of the fault suites, but for its laws of calls, proofs and messages: no excuses."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import chain

from functions.cli.analysis.simulated_days.patterns import Curve, Demand, ReplicaChange, by_curve, swinging
from functions.cli.analysis.simulated_days.run import Days, simulate
from shared.adapters.prices import load
from shared.core.cluster.node import NodePool
from shared.core.cluster.snapshot import Snapshot
from shared.core.policy import Policy
from shared.core.policy.parsing import parse
from tests.builders import NOW, cluster, node, pdb, pod, pod_class
from tests.cli.analysis.simulated_days.recorded import Entry, Recorded
from tests.depth import cases
from tests.faults import ebb_actions
from tests.faults.excuses import Excuses
from tests.faults.grants import Grants
from tests.faults.replaced import Moments
from tests.faults.replay import ReplayedCluster, is_ebb, moments
from tests.faults.waiting_times import Bound, CordonTimes, WaitingTimes
from tests.faults.worlds import Limits

LIMITS = Limits(pool=2, ceiling=2, starts_per_hour=6, minimum_nodes=3, timeout=510, max_grace=60, watchdog=1500)
REPLACED = replace(LIMITS, awaiting=4)
INTERVAL = timedelta(minutes=5)


def policy_of(limits: Limits) -> Policy:
    return parse(limits.text().replace("    headroom: 0%\n", "").encode())


def shop(nodes: int = 10, cpu: float = 0.6) -> Snapshot:
    """Workloads of several sizes, one of them under a PodDisruptionBudget that lets one go at a time."""
    kinds = [pod_class(owner=f"ReplicaSet/w{k}", labels={"app": f"w{k}"}, cpu=cpu, memory=1) for k in range(4)]
    pods = [pod(f"w{k}-{n}", on=f"n{n}", kind=kinds[k]) for n in range(nodes) for k in range(4)]
    rows = [node(f"n{n}", pool="web", zone=f"europe-west4-{'abc'[n % 3]}") for n in range(nodes)]
    return replace(cluster(rows, pods), disruption_budgets=(pdb("w0", app="w0"),))


def nights(picture: Snapshot, days: int = 2, night: int = 60) -> Demand:
    return by_curve(swinging(picture, night), Curve(weekend=100), picture.taken_at, timedelta(days=days))


SLOW = {"web": NodePool("web", consolidation_delay=timedelta(minutes=30))}
"""Ebb comes first where the autoscaler waits."""


def judged(entries: list[Entry], limits: Limits = LIMITS) -> Iterator[str]:
    """Yield what breaks a law."""
    excuses, again = Excuses(), Moments()
    grants, cordons = Grants(excuses, limits), CordonTimes(Bound(excuses, 2 * 300 + limits.longest_cordon, 0))
    places, replayed = WaitingTimes(excuses, (), 0), ReplayedCluster()
    for entry, replayed in moments(entries):
        laws = (grants.of(entry, replayed), ebb_actions.of(entry, replayed, excuses), cordons.of(entry, replayed))
        yield from chain(*laws, places.of(entry, replayed), again.of(entry, replayed))
    yield from cordons.at_the_end(replayed.at)


@cases(
    "picture, demand",
    ("nights and mornings", shop(), None),
    ("fuller nodes", shop(cpu=0.65), nights(shop(cpu=0.65), night=80)),
    ("a packing profile", replace(shop(), profile="OPTIMIZE_UTILIZATION", pools=SLOW), None),
    ("demand that comes and goes while nodes are drained", shop(cpu=0.3),
     tuple(ReplicaChange(NOW + timedelta(minutes=7 * n), f"default/ReplicaSet/w{n % 4}",
        10 + n % 9) for n in range(90))),
)  # fmt: skip
@cases("limits", ("deleted", LIMITS), ("replaced", REPLACED))
def test_a_simulated_day_keeps_the_promise(picture: Snapshot, demand: Demand | None, limits: Limits) -> None:
    recorded = Recorded()
    days = Days(picture, load(), demand or nights(picture), timedelta(days=2))
    told = simulate(days, policy_of(limits), recorded)

    judged_evictions = sum(entry["type"] == "eviction" and is_ebb(entry["actor"]) for entry in recorded.entries)
    assert told.evictions > 0
    assert judged_evictions == told.evictions_by_ebb
    assert judged_evictions > 0 or picture.profile == "OPTIMIZE_UTILIZATION"  # where the autoscaler comes first
    assert list(judged(recorded.entries, limits)) == []
    states = [entry["after"].claims.values() for entry in recorded.entries if entry["type"] == "state"]
    assert any(claim.replaced for claims in states for claim in claims) == (limits is REPLACED)


EVICTED: Entry = {
    "type": "eviction", "node": "n0", "actor": "ebb/push-1", "uid": "default/w1-0", "namespace": "default",
    "name": "w1-0", "terminating": False, "budgets": [],
}  # fmt: skip
BROKEN: Entry = {"broken": True, "healthy_after": 0, "desired": 1}


@cases(
    "expected, spoil",
    ("a node that is not held", "which it does not hold", EVICTED),
    ("a broken budget", "left 0 of 1 healthy pods", {**EVICTED, "budgets": [BROKEN]}),
)
def test_the_laws_find_what_breaks_them(expected: str, spoil: Entry) -> None:
    recorded = Recorded()
    simulate(Days(shop(), load(), (), timedelta(seconds=5)), policy_of(LIMITS), recorded)

    assert any(expected in fault for fault in judged([*recorded.entries, {"at": recorded.entries[-1]["at"], **spoil}]))
