"""The snapshot that all judge alike, and lists that only advise."""

from dataclasses import fields, replace
from typing import Any

from shared.core.cluster.autoscaling import Buffers
from shared.core.cluster.namespace_limits import NamespaceLimits
from shared.core.cluster.node import Kubelet
from shared.core.cluster.pod import Phase
from shared.core.cluster.returning import VerticalAutoscalers
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.storage import Storage
from shared.core.cluster.workloads import UNKNOWN, Workload
from shared.core.placement import Simulation
from shared.ports import ClusterReading, PoolsReading
from shared.store.snapshots import snapshot_of, unread_lists, warn_of_unread, with_unknown_workloads, workloads_by_pods
from tests.builders import NOW, node, pod, pod_class, resources
from tests.depth import cases
from tests.fakes import FakeLog

WEB, DB = "default/ReplicaSet/web", "default/StatefulSet/db"
PODS = (pod("web-1"), pod("web-2"), pod("db-0", owner="StatefulSet/db"), pod("bare", owner=None))


def test_workloads_are_counted_by_their_living_pods() -> None:
    finished = pod("web-0", phase=Phase.FAILED)
    assert workloads_by_pods((*PODS, finished)) == {WEB: Workload(WEB, 2), DB: Workload(DB, 1)}


def test_what_was_read_of_a_workload_counts_more_than_its_pods() -> None:
    read = {WEB: Workload("default/Deployment/web", 3, 2)}
    reading = ClusterReading((node("n1"),), PODS, (), {}, read)
    snapshot = snapshot_of("c", reading, PoolsReading({}, known=True), NOW, NOW)
    assert snapshot.workloads == {**read, DB: Workload(DB, 1)}


def test_what_the_autoscaler_keeps_at_least_is_part_of_the_snapshot() -> None:
    reading = PoolsReading({}, known=True, minimum=resources(20, 64))
    assert snapshot_of("c", ClusterReading((), (), (), {}), reading, NOW, NOW).minimum == resources(20, 64)


def test_of_pods_that_are_not_all_there_are_nothing_is_counted() -> None:
    partial = ClusterReading((node("n1"),), PODS[:1], (), {}, with_unknown_workloads(PODS[:1], {}))
    snapshot = snapshot_of("c", partial, PoolsReading({}, known=True), NOW, NOW)
    assert snapshot.workloads == {WEB: UNKNOWN}


OLD, NEW = Kubelet((1, 32)), Kubelet((1, 33))
NEWER, MORE = Kubelet((1, 33), frozenset({"A"})), Kubelet((1, 33), frozenset({"A", "B"}))


@cases(
    "expected, kubelets",
    ("all alike", [None, None], [NEW, NEW]),
    ("a newer one next to an older", [None, NEW], [OLD, NEW]),
    ("nothing known of any", [None, None], [Kubelet(), Kubelet()]),
    ("one of which nothing is known may be older", [None, NEW], [Kubelet(), NEW]),
    ("one declares more", [None, MORE], [NEWER, MORE]),
    ("one declares less", [NEWER, None], [NEWER, NEW]),
)
def test_pods_rely_on_the_kubelet_under_them_where_not_all_can_as_much(
    expected: list[Kubelet | None], kubelets: list[Kubelet]
) -> None:
    kind = pod_class()
    nodes = tuple(node(f"n{place}", kubelet=kubelet) for place, kubelet in enumerate(kubelets))
    pods = (*(pod(f"p{place}", on=f"n{place}", kind=kind) for place in range(2)), pod("pending", kind=kind))
    reading = ClusterReading(nodes, pods, (), {})

    seen = snapshot_of("c", reading, PoolsReading({}, known=True), NOW, NOW)

    assert [pod.spec.needs_kubelet for pod in seen.pods] == [*expected, None]


def test_a_daemon_pod_is_to_reach_an_older_kubelet_too() -> None:
    """A DaemonSet puts its pods onto every node, whatever runs there: n3 has 1 CPU less to give than it seems."""
    nodes = (node("n1", kubelet=OLD), node("n2", kubelet=NEW, cpu=1), node("n3", kubelet=OLD))
    agent = pod("agent", on="n2", owner="DaemonSet/agent", cpu=1)
    reading = ClusterReading(nodes, (pod("p", on="n1", cpu=3.5), agent), (), {})
    seen = snapshot_of("c", reading, PoolsReading({}, known=True), NOW, NOW)
    assert Simulation.of(seen).try_remove("n1") is not None


def test_a_pod_finds_no_place_on_an_older_kubelet() -> None:
    nodes = (node("n1", kubelet=NEW), node("n2", kubelet=OLD), node("n3", kubelet=NEW, cpu=1))
    seen = snapshot_of(
        "c", ClusterReading(nodes, (pod("p", on="n1", cpu=0.8),), (), {}), PoolsReading({}, known=True), NOW, NOW
    )
    simulation = Simulation.of(seen)

    assert simulation.try_remove("n1") is None
    assert [move.node for move in simulation.assignments.moves()["n1"]] == ["n3"]
    assert simulation.try_remove("n3") is not None


def test_whatever_a_reading_and_a_snapshot_both_hold_is_carried_over() -> None:
    kept = {field.name for field in fields(ClusterReading)} & {field.name for field in fields(Snapshot)}
    sorted_or_counted = {"nodes", "pods", "disruption_budgets", "workloads"}
    reading = ClusterReading((), (), (), {})
    told: dict[str, Any] = {name: object() for name in kept - sorted_or_counted - {"autoscalers", "limits"}}
    limits, autoscalers = NamespaceLimits(unread=("quotas",)), VerticalAutoscalers(unread=("some",))
    given = replace(reading, limits=limits, autoscalers=autoscalers, **told)

    snapshot = snapshot_of("c", given, PoolsReading({}, known=True), NOW, NOW)

    assert {name for name in kept - sorted_or_counted if getattr(snapshot, name) != getattr(given, name)} == set()


def said(**parts: Any) -> list[str]:
    """What the log says of a reading of which all else was read."""
    whole: dict[str, Any] = {"storage": Storage(unread=()), **parts}
    log = FakeLog()
    warn_of_unread(log, "drain_step", ClusterReading((), (), (), {}, **whole))
    assert {line["severity"] for line in log.lines} <= {"WARNING"}
    return [str(line["message"]) for line in log.lines]


def test_it_is_unknown_as_well_where_more_than_they_could_not_be_read() -> None:
    (sentence,) = said(buffers=Buffers(unread=("capacitybuffers", "podtemplates", "computeclasses")))

    assert "ComputeClasses" in sentence


def test_what_a_dump_is_to_be_given_are_the_lists_of_the_same_sentence() -> None:
    storage, buffers = Storage(unread=("persistentvolumes", "csinodes")), Buffers(unread=("podtemplates",))
    reading = ClusterReading((), (), (), {}, storage=storage, buffers=buffers)

    remedies = [sentence.rpartition("add ")[2] for sentence in unread_lists(reading, "add {} to the dump")]
    assert remedies == ["persistentvolumes,csinodes to the dump.", "podtemplates to the dump."]
