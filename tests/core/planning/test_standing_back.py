"""What a pass does where the autoscaler alone saves as much as Ebb could: it keeps back, but for what goes anyway."""

from dataclasses import replace
from datetime import timedelta

from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.policy import SingleReplicas
from tests.builders import NOW, announced_taint, cluster, node, pod, policy
from tests.core.planning.passes import SINGLE, ordered, plan, verdicts
from tests.depth import cases

DAYS = timedelta(days=1)


def better_alone(*more: Node, pods: tuple[Pod, ...] = ()) -> Snapshot:
    """The autoscaler puts the pods of n2, which Ebb may not move, onto the cheaper n1; Ebb would remove n1."""
    nodes = [node("n1", machine="e2-standard-2"), node("n2"), node("n3", pool="b")]
    own = [
        pod("p1", on="n1", cpu=2.4, owner="ReplicaSet/one"),
        pod("p2", on="n2", cpu=1, owner="ReplicaSet/two"),
        pod("job", on="n2", cpu=0.1, owner="Job/j"),
        pod("big", on="n3", cpu=3.5),
    ]
    return cluster([*nodes, *more], [*own, *pods])


def test_it_orders_and_holds_nothing() -> None:
    made = plan(better_alone())

    assert (ordered(made), made.wave, verdicts(made)["n1"]) == ([], (), ("keep", "autoscaler_does_better"))


def test_a_node_whose_pods_have_no_place_stays_for_them() -> None:
    picture = better_alone(node("n4"), pods=(pod("p4", on="n4", cpu=1, node_selector={"disk": "ssd"}),))

    assert verdicts(plan(picture))["n4"] == ("keep", "no_place_for_pods")


def with_a_single_replica(old: Node, setting: SingleReplicas) -> dict[str, tuple[str, str]]:
    """Plan with a small node more, on which the only pod of its workload runs."""
    picture = better_alone(old, pods=(pod("p4", on="n4", cpu=0.1, owner="ReplicaSet/web"),))
    seen = replace(picture, workloads={"default/ReplicaSet/web": SINGLE})
    made = verdicts(plan(seen, policy(expire_after=8 * DAYS, single_replicas=setting, max_nodes_per_pass=2)))
    assert made["n1"] == ("keep", "autoscaler_does_better")
    return made


@cases(
    "expected, age",
    ("an expired one goes", ("order", "expired"), 9),
    ("one that has not expired stays", ("keep", "autoscaler_does_better"), 0.5),
)
def test_of_nodes_that_go_after_all_others(expected: tuple[str, str], age: float) -> None:
    old = node("n4", cpu=1, created=NOW - age * DAYS, machine="e2-standard-2")

    assert with_a_single_replica(old, SingleReplicas.AVOID)["n4"] == expected


@cases(
    "expected, is_announced",
    ("one that the autoscaler has announced goes: it would make a gap", ("order", "underutilized"), True),
    ("another stays", ("keep", "autoscaler_does_better"), False),
)
def test_of_nodes_whose_pods_must_have_no_gap(expected: tuple[str, str], is_announced: bool) -> None:
    small = node("n4", cpu=1, machine="e2-standard-2", taints=(announced_taint("1"),) if is_announced else ())

    assert with_a_single_replica(small, SingleReplicas.SURGE)["n4"] == expected
