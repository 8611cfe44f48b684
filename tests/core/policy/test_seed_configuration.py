from datetime import timedelta
from fractions import Fraction

import pytest

from shared.core.cluster.snapshot import Snapshot
from shared.core.policy.parsing import parse
from tests.builders import cluster, node, only_empty, pod
from tests.core.planning.passes import marked, plan, verdicts
from tests.depth import cases

README = b"""
{
    "nodePools": {
        "nodepool1": {
            "enabled": true,
            "scaleDownCPURequestRatioLimit": 0.75,
            "scaleDownRequiredUnderutilizedNodeCount": 5
        },
        "nodepool2": {
            "enabled": true,
            "scaleDownCPURequestRatioLimit": 0.6,
            "scaleDownRequiredUnderutilizedNodeCount": 3
        }
    }
}
"""
FIRST, SECOND = "nodepool1", "nodepool2"


def pools(count: int, cpu: float) -> Snapshot:
    """So many nodes of 4 cores in each pool with pods that ask for so many cores, and a third pool that is not named.

    The third makes a tenth of the cluster two nodes: the ceiling over all pools (10 %) closes neither of the two.
    """
    nodes = [node(f"{pool}-{index}", pool=pool) for pool in (FIRST, SECOND) for index in range(count)]
    steps = round(cpu / 0.2)
    pods = [
        pod(f"{any_node.name}-{step}", on=any_node.name, cpu=0.2, owner=f"ReplicaSet/{any_node.name}")
        for any_node in nodes
        for step in range(steps)
    ]
    return only_empty(cluster([*nodes, *(node(f"other-{index}", pool="nodepool3") for index in range(11))], pods))


@pytest.mark.acceptance(6)
def test_the_configuration_of_the_readme_is_a_policy_as_it_stands() -> None:
    policy = parse(README)

    one, two = policy.pool(FIRST), policy.pool(SECOND)
    assert (one.enabled, one.cpu_limit, one.required_count) == (True, Fraction(3, 4), 5)
    assert (two.enabled, two.cpu_limit, two.required_count) == (True, Fraction(3, 5), 3)
    assert (one.consolidate_after, one.minimum_node_age) == (timedelta(seconds=300), timedelta(seconds=1200))
    assert one.expire_after is None
    assert policy.dry_run


@cases(
    "first, second, count, cpu",
    ("65 % lies below one limit of the two", "underutilized", "cpu_above_limit", 6, 2.6),
    ("60 % is at the other, not below it", "underutilized", "cpu_above_limit", 6, 2.4),
    ("55 % lies below both", "underutilized", "underutilized", 6, 2.2),
    ("four are enough for one pool of the two", "too_few_underutilized", "underutilized", 4, 1),
    ("five are enough for both", "underutilized", "underutilized", 5, 1),
)
@pytest.mark.acceptance(6)
def test_each_pool_of_one_plan_is_held_to_its_own_limit_and_count(
    first: str, second: str, count: int, cpu: float
) -> None:
    picture = pools(count, cpu)
    old = {pool: marks for pool in (FIRST, SECOND) for marks in marked(*names(picture, pool), pool=pool).values()}

    said = verdicts(plan(picture, parse(README), marks=old))

    assert (said[f"{FIRST}-0"][1], said[f"{SECOND}-0"][1]) == (first, second)
    assert {verdict for verdict, _ in said.values()} <= {"would_order", "keep"}


def names(picture: Snapshot, pool: str) -> list[str]:
    return [any_node.name for any_node in picture.nodes if any_node.pool == pool]
