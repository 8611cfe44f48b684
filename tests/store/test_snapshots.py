"""What one reading does not tell, another part of it does: workloads counted from their pods."""

from shared.core.cluster.pod import Phase
from shared.core.cluster.workloads import UNKNOWN, Workload
from shared.ports import ClusterReading, PoolsReading
from shared.store.snapshots import snapshot_of, with_unknown_workloads, workloads_by_pods
from tests.builders import NOW, node, pod, resources

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


def test_what_the_autoscaler_keeps_at_least_is_part_of_the_picture() -> None:
    reading = PoolsReading({}, known=True, minimum=resources(20, 64))
    assert snapshot_of("c", ClusterReading((), (), (), {}), reading, NOW, NOW).minimum == resources(20, 64)


def test_of_pods_that_are_not_all_there_are_nothing_is_counted() -> None:
    partial = ClusterReading((node("n1"),), PODS[:1], (), {}, with_unknown_workloads(PODS[:1], {}))
    snapshot = snapshot_of("c", partial, PoolsReading({}, known=True), NOW, NOW)
    assert snapshot.workloads == {WEB: UNKNOWN}
