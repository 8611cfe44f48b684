from collections.abc import Iterable, Sequence
from dataclasses import replace as with_changes
from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace

from shared.core.cluster.names import ZONE_LABEL
from shared.core.cluster.node import Node
from shared.core.cluster.pod import HostPort, Pod
from shared.core.cluster.selectors import LabelSelector, Requirement, SpreadConstraint
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.workloads import Workload
from shared.core.draining.drain import Compare, Observation, OtherDrain, OtherDrains, ReturnNode
from shared.core.draining.next_step import next_step
from shared.core.draining.replacements import waiting_for_a_place
from shared.core.reasons import ReturnReason
from shared.core.records.claims import settle
from shared.core.records.drain_record import DrainPhase, DrainRecord, PodProgress, Replicas
from shared.core.records.state import Claim, ClusterState, Lease
from tests.builders import (
    NOW,
    claim,
    mounts,
    node,
    order,
    our_taint,
    persistent_volume,
    pod,
    pod_class,
    policy,
    storage,
    volume_claim,
)
from tests.builders import cluster as picture
from tests.depth import cases

SET, WEB, OTHER_SET, OTHER = "default/ReplicaSet/web", "default/Deployment/web", "default/ReplicaSet/b", "default/b"
REPLICAS = 40
AT = NOW + timedelta(minutes=5)  # When the pods begin to wait.
GRACE = timedelta(seconds=20)


class Cluster:
    """Drains of nodes n00, n01, … in the order of their claims; each has moved one pod."""

    def __init__(self, drains: int, pods: Iterable[Pod], **changes: Any) -> None:
        names = [f"n{index:02}" for index in range(drains)]
        self.pods, self.now = tuple(pods), AT
        self.picture: Snapshot | None = None
        claims = {f"uid-{name}": claim(name, order_id=name, since=_since(index)) for index, name in enumerate(names)}
        self.state = ClusterState(claims=claims)
        self.records = {name: _record(name, _since(index), **changes) for index, name in enumerate(names)}

    def change(self, name: str, **changes: Any) -> None:
        self.records[name] = replace(self.records[name], **changes)

    def observed(self, name: str) -> Observation:
        claims = self.state.claims.values()
        drains = tuple(OtherDrain(row.since, self.records[row.node]) for row in claims if row.node != name)
        return Observation(
            node=node(name, unschedulable=True, taints=(our_taint(name),)),
            claim=self._claim(name),
            policy=policy(),
            unbound=self.pods,
            workloads={
                SET: Workload(WEB, REPLICAS, REPLICAS - len(self.pods), created=REPLICAS),
                OTHER_SET: Workload(OTHER, 4, 4, created=4),
            },
            workloads_at=self.now,
            emptied_at=NOW,
            others=OtherDrains(drains, tuple(self.state.backoffs.values()), self.picture),
        )

    def step(self, name: str) -> Any:
        return next_step(self.records[name], self.observed(name), self.now)

    def returned(self) -> list[str]:
        """Return who gives its node back in this moment, each by itself, and settle those after all have looked."""
        found = [claim.node for claim in self.state.claims.values() if isinstance(self.step(claim.node), ReturnNode)]
        steps = {name: self.step(name) for name in found}
        for name in found:
            assert steps[name].why is ReturnReason.REPLACEMENT_PENDING
            self.state = settle(self.state, f"uid-{name}", steps[name].why, self.now, steps[name].gave_way_for)
        return found

    def until(self, seconds: float, absent: Sequence[str] = ()) -> list[tuple[int, list[str]]]:
        """Look every five seconds; return when which nodes were given back, in seconds of waiting."""
        told = []
        while self.now < AT + timedelta(seconds=seconds):
            self.now += timedelta(seconds=5)
            for name in self.records.keys() - set(absent):
                self.change(name, lease=Lease("step", self.now + timedelta(seconds=30)))
            if found := self.returned():
                told.append((int((self.now - AT).total_seconds()), found))
        return told

    def _claim(self, name: str) -> Claim:
        return self.state.claims[f"uid-{name}"]

    def chosen(self) -> list[str]:
        """Return who gives its node back a second after the grace."""
        self.now = AT + GRACE + timedelta(seconds=1)
        working = [name for name, record in self.records.items() if record.phase is not DrainPhase.HALTING]
        return [name for name in working if isinstance(self.step(name), ReturnNode)]


def _since(index: int) -> datetime:
    return NOW + timedelta(seconds=index)


def _record(name: str, since: datetime, workload: str = SET, answer: str = "granted", **changes: Any) -> DrainRecord:
    row = PodProgress(uid=f"uid-old-{name}", answer=answer, owner=workload, at=since + timedelta(seconds=10))
    given: dict[str, Any] = {
        "node_uid": f"uid-{name}", "cordoned_at": since, "deadline": NOW + timedelta(minutes=30),
        "pods": {f"default/old-{name}": row}, "before": {workload: Replicas(REPLICAS, REPLICAS)},
        "lease": Lease("step", AT + timedelta(minutes=10)), **changes,
    }  # fmt: skip
    return DrainRecord(order=order(name, order_id=name), phase=DrainPhase.CORDONED, **given)


def waiting(count: int, since: datetime = AT, prefix: str = "new") -> list[Pod]:
    names = (f"{prefix}-{index}" for index in range(count))
    return [pod(name, owner="ReplicaSet/web", created=since, ready=False, unschedulable_since=since) for name in names]


@cases(
    "expected, pods",
    ("one pod: a node, and with each look one", [(25, ["n19"]), (30, ["n18"]), (35, ["n17"])], 1),
    ("three pods", [(25, ["n17", "n18", "n19"]), (30, ["n14", "n15", "n16"]), (35, ["n11", "n12", "n13"])], 3),
)
def test_of_twenty_drains_as_many_give_way_as_pods_wait_youngest_first(expected: Any, pods: int) -> None:
    assert Cluster(20, waiting(pods)).until(35) == expected


IN_A: dict[str, Any] = {"node_selector": {ZONE_LABEL: "a"}}
DISK = storage(volume_claim("data"), persistent_volume("pv-data", zone="a"))
WEB_PORT: dict[str, Any] = {"host_ports": (HostPort("TCP", 80),)}
WEB_PODS = LabelSelector((Requirement("app", "In", ("web",)),))
SPREAD: dict[str, Any] = {"hard_spread": (SpreadConstraint(ZONE_LABEL, WEB_PODS),)}


@cases(
    "expected, waits, there",
    ("everywhere: the youngest", "n02", {}, []),
    ("nowhere: the youngest", "n02", {"cpu": 9}, []),
    ("where its selector shows", "n00", IN_A, []),
    ("where its disk is", "n00", {"volumes": mounts("data")}, []),
    ("where its port is free", "n01", WEB_PORT, [pod("edge", on="n02", **WEB_PORT)]),
    ("where there is room for it", "n01", {"cpu": 2}, [pod("big", on="n02", cpu=3)]),
    ("where its spread allows it", "n00", SPREAD, [pod("in-b", on="n03", labels={"app": "web"})]),
    ("where it was before", "n00", {"cpu": 2, **IN_A}, [pod("old-n00", on="n00", cpu=3)]),
    ("where one of its name was before", "n00", {"cpu": 2, **IN_A}, [pod("new-0", on="n00", cpu=3, uid="uid-old-n00")]),
)
def test_the_node_goes_back_on_which_the_pod_fits(expected: str, waits: dict[str, Any], there: list[Pod]) -> None:
    """Zone a has the oldest drain's node alone; the picture is older than the evictions and the waiting pod."""
    kind = pod_class(labels={"app": "web"}, **waits)
    cluster = Cluster(3, [replace(row, uid="uid-new", spec=kind) for row in waiting(1)])
    nodes = [held("n00", zone="a"), *(held(name, zone="b") for name in ("n01", "n02")), node("n03", zone="b")]
    cluster.picture = picture(nodes, there, storage=DISK)

    assert cluster.chosen() == [expected]


def held(name: str, **changes: Any) -> Node:
    return with_changes(node(name, **changes), unschedulable=True, taints=(our_taint(name),))


def moved(name: str, seconds: float, workload: str = SET) -> PodProgress:
    """A pod that was let go so many seconds before the waiting one was created."""
    return PodProgress(uid=f"uid-{name}", answer="granted", owner=workload, at=AT - timedelta(seconds=seconds))


def test_where_two_nodes_fit_a_statefulsets_pod_goes_back_to_the_drain_that_moved_it() -> None:
    cluster = Cluster(3, waiting(1))
    cluster.change("n00", pods={"default/new-0": moved("before", 40)})

    assert cluster.chosen() == ["n00"]


@cases(
    "expected, rows",
    ("the latest", "n01", {"n00": 60, "n01": 20, "n02": 40}),
    ("what came after it was not its cause", "n01", {"n00": 60, "n01": 20, "n02": -5}),
    ("in the same second it may have been", "n02", {"n00": 60, "n01": 20, "n02": 0}),
    ("of two alike the youngest claim", "n02", {"n00": 20, "n01": 20, "n02": 20}),
)
def test_else_the_last_eviction_before_the_pod_was_created_shows_whose_it_is(
    expected: str, rows: dict[str, float]
) -> None:
    cluster = Cluster(3, waiting(1))
    for name, seconds in rows.items():
        other = {"default/other": moved("other", 0, OTHER_SET)} if name == "n00" else {}
        cluster.change(name, pods={f"default/old-{name}": moved(f"old-{name}", seconds), **other})

    assert cluster.chosen() == [expected]


@cases(
    "expected, changes",
    ("for another reason: it helps nobody", True, {"why": ReturnReason.DEADLINE.value}),
    ("for the pod: it is waited for wherever it fits", False, {"gave_way_for": ("default/new-0",)}),
)
def test_a_drain_that_ends_helps_only_the_pod_for_which_it_gives_way(expected: bool, changes: dict[str, Any]) -> None:
    """The pod fits on the node of another drain; another instance has chosen by a picture of its own."""
    cluster = Cluster(2, waiting(1))
    cluster.pods = tuple(replace(any_pod, spec=pod_class(**IN_A)) for any_pod in cluster.pods)
    cluster.change("n01", phase=DrainPhase.HALTING, **changes)
    cluster.picture = picture([held("n00", zone="a"), held("n01", zone="b")])

    assert ("n00" in cluster.chosen()) is expected


def test_where_the_first_node_has_helped_no_other_is_returned() -> None:
    cluster = Cluster(20, waiting(3))
    first = cluster.until(25)
    cluster.pods = ()

    assert (len(first), cluster.until(120)) == (1, [])


def test_a_node_returned_for_one_pod_makes_no_later_pod_wait_longer() -> None:
    """Each node takes one pod, and the pods begin to wait one after the other."""
    starts = (AT + timedelta(seconds=10 * number) for number in range(6))
    late = [(start, waiting(1, start, f"late-{start:%S}")[0]) for start in starts]
    cluster, waited = Cluster(8, []), []

    while late and cluster.now < AT + timedelta(minutes=5):
        cluster.pods = tuple(row for start, row in late if start <= cluster.now)
        for _, found in cluster.until((cluster.now - AT).total_seconds() + 5):
            waited += [(cluster.now - start).total_seconds() for start, _ in late[: len(found)]]
            del late[: len(found)]

    assert waited == [25.0] * 6


def test_a_drain_that_already_gives_way_for_one_pod_does_not_for_the_next() -> None:
    cluster = Cluster(3, waiting(1))
    cluster.change("n02", phase=DrainPhase.HALTING, gave_way_for=("default/placed-by-now",))

    assert cluster.chosen() == ["n01"]


def test_a_drain_that_has_not_compared_itself_does_so_first() -> None:
    cluster = Cluster(2, waiting(1))
    cluster.now = AT + GRACE + timedelta(seconds=1)
    seen = with_changes(cluster.observed("n00"), others=None)

    assert next_step(cluster.records["n00"], seen, cluster.now) == Compare()


DRAINED = {"phase": DrainPhase.DRAINED, "drained_at": AT}


@cases(
    "expected, youngest",
    ("a drained node that is watched is in turn", "n02", DRAINED),
    ("its next message is on its way", "n02", {**DRAINED, "lease": None, "updated_at": AT + timedelta(seconds=17)}),
    ("one that nobody watches any more is not", "n01", {**DRAINED, "lease": None, "updated_at": AT}),
    ("nor is one that is silent for five seconds", "n01", {"lease": None, "updated_at": AT + timedelta(seconds=16)}),
    ("one that may have moved a pod comes after those that have", "n01", {"pods": {}}),
    ("one that has moved nothing is not concerned", "n01", {"before": {}}),
    ("nor one that is owed nothing", "n01", {"before": {SET: Replicas(REPLICAS - 1, REPLICAS - 1)}}),
    ("nor one that came after the pod", "n01", {"cordoned_at": AT + timedelta(seconds=2)}),
    ("one that ends already is enough", None, {"phase": DrainPhase.HALTING}),
)
def test_the_youngest_that_can_help_gives_way(expected: str | None, youngest: dict[str, Any]) -> None:
    cluster = Cluster(3, waiting(1))
    cluster.change("n02", **youngest)

    found = [name for name in cluster.chosen() if cluster.records[name].lease or name == expected]

    assert found == ([expected] if expected else [])


def test_of_a_deployment_whose_replica_set_is_deleted_those_that_moved_a_pod_for_certain_come_first() -> None:
    cluster = Cluster(3, waiting(1), before={f"{SET}-old": Replicas(REPLICAS, REPLICAS, workload=WEB)})
    for name, record in cluster.records.items():
        rows = {key: replace(row, owner=f"{SET}-old") for key, row in record.pods.items() if name != "n02"}
        cluster.change(name, pods=rows)

    assert cluster.chosen() == ["n01"]


def test_a_drain_that_falls_silent_after_it_was_chosen_holds_up_the_others_for_one_grace() -> None:
    cluster = Cluster(3, waiting(1))
    cluster.now = AT + timedelta(seconds=41)

    assert [name for name in ("n00", "n01", "n02") if isinstance(cluster.step(name), ReturnNode)] == ["n01", "n02"]


@cases(
    "expected, seconds, key",
    ("for this wait: it may still help", [], 21, "default/new-0"),
    ("a look ago: it has not helped", [(25, ["n01"])], 20, "default/new-0"),
    ("but none before its grace is over", [(25, ["n01"])], 0, "default/new-0"),
    ("for an earlier one: it has helped, and is over", [(25, ["n01"])], -1, "default/new-0"),
    ("for one that began a grace ago", [(25, ["n01"])], -20, "default/new-0"),
    ("for another workload", [(25, ["n01"])], 20, OTHER),
)
def test_a_node_returned_for_a_pod_counts_for_the_wait_it_was_returned_for(
    expected: Any, seconds: float, key: str
) -> None:
    """A StatefulSet's pod waits under the same name again."""
    cluster = Cluster(2, waiting(1))
    other = ClusterState(claims={"uid-x": claim("x")})
    given = AT + timedelta(seconds=seconds)
    backoffs = settle(other, "uid-x", ReturnReason.REPLACEMENT_PENDING, given, (key,)).backoffs
    cluster.state = ClusterState(claims=cluster.state.claims, backoffs=backoffs)

    assert cluster.until(25) == expected


def test_more_pods_than_were_moved_give_no_more_nodes_back() -> None:
    """The workload grew as well: two replicas more than before wait for a node."""
    cluster = Cluster(20, waiting(3))
    for name in cluster.records:
        cluster.change(name, before={SET: Replicas(REPLICAS - 2, REPLICAS - 2)})

    assert cluster.until(25) == [(25, ["n19"])]


SECOND = timedelta(seconds=1)
DATA = frozenset({"default/data"})


@cases(
    "expected, claims, held, held_at",
    ("its claim was never seen held", NOW - 10 * SECOND, ("data",), frozenset(), None),
    ("it is held", None, ("data",), DATA, NOW),
    ("it was held until then", NOW - 5 * SECOND, ("data",), frozenset(), NOW - 5 * SECOND),
    ("it was free before the pod came", NOW - 10 * SECOND, ("data",), frozenset(), NOW - 30 * SECOND),
    ("another pod's is held", NOW - 10 * SECOND, ("other",), DATA, None),
    ("it has none", NOW - 10 * SECOND, (), DATA, NOW),
)
def test_a_pod_waits_for_a_place_since_nobody_held_its_claim(
    expected: datetime | None, claims: tuple[str, ...], held: frozenset[str], held_at: datetime | None
) -> None:
    waits = pod("new", volumes=mounts(*claims), unschedulable_since=NOW - 10 * SECOND)

    assert waiting_for_a_place(waits, held, held_at).unschedulable_since == expected
