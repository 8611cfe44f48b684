"""Defects of the systems before Ebb, by number (docs/decisions/predecessors.md), each with its own example."""

import json
from datetime import timedelta
from fractions import Fraction

import pytest

from shared.adapters.prices import load
from shared.core.cluster.resources import Resources
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.make_plan import make_plan
from shared.core.planning.plan import Plan
from shared.core.policy import Policy
from shared.core.policy.parsing import parse
from shared.core.reasons import DrainReason
from shared.core.records.state import ClusterState, Mark, PoolMarks
from shared.core.rules.counts import count_nodes
from shared.core.rules.gates import claim_blockers
from shared.core.rules.situation import Situation
from shared.errors import BadPolicy
from tests.builders import GIB, NOW, cluster, node, pod, policy
from tests.core.planning.passes import between_passes
from tests.depth import cases

MINUTE = timedelta(minutes=1)
HOUR_OLD = {"a": PoolMarks(marks={f"uid-n{i}": Mark(f"n{i}", NOW - 60 * MINUTE) for i in range(1, 6)})}
"""Marks that are older than any timer."""


def five(cpu: float) -> Snapshot:
    """Five nodes of 4 cores, each with one pod of so many."""
    names = [f"n{i}" for i in range(1, 6)]
    pods = [pod(f"p-{name}", on=name, cpu=cpu, owner=f"ReplicaSet/{name}") for name in names]
    return cluster([node(name) for name in names], pods)


def planned(snapshot: Snapshot, rules: Policy) -> Plan:
    return make_plan(Situation(snapshot, between_passes(), rules), HOUR_OLD, load())


def written(**pool: object) -> bytes:
    cluster_wide = {"timeSinceLastAddition": "0", "timeGap": "0", "minimumNodes": 0, "minimumNonTaintedNodes": 0}
    return json.dumps({"dryRun": False, "cluster": cluster_wide, "nodePools": {"a": pool} if pool else {}}).encode()


@cases(
    "document",
    ("the pool was removed from the configuration", written()),
    ("the pool was disabled, its count left out", written(enabled=False)),
    ("disabled, with count 0", written(enabled=False, scaleDownRequiredUnderutilizedNodeCount=0)),
)
def test_b1_a_pool_that_is_not_enabled_is_never_drained_whatever_its_old_marks(document: bytes) -> None:
    """B1: estafette drained a disabled pool's nodes with old marks, since 0 nodes of 0 required opened its gate."""
    made = planned(five(cpu=0.5), parse(document))

    assert made.orders == ()
    assert made.marks["a"].marks == {}


def test_b1_with_the_pool_enabled_the_same_nodes_do_go() -> None:
    """B1, the other way round: it is the policy alone that keeps those nodes."""
    rules = parse(written(enabled=True, scaleDownRequiredUnderutilizedNodeCount=0, excessNodesThreshold=0))

    assert len(planned(five(cpu=0.5), rules).orders) == 1


def test_b2_a_node_whose_use_has_recovered_is_not_picked_for_the_mark_it_had() -> None:
    """B2: estafette picked by the marks it had read, also a node whose mark it had just cleared."""
    made = planned(five(cpu=3.5), policy())

    assert made.orders == ()
    assert made.marks["a"].marks == {}


def test_b3_one_value_of_the_wrong_type_refuses_the_whole_document() -> None:
    """B3: estafette logged the type error of a count in quotes and went on with enabled: true and count 0."""
    with pytest.raises(BadPolicy, match="scaleDownRequiredUnderutilizedNodeCount"):
        parse(written(enabled=True, scaleDownRequiredUnderutilizedNodeCount="5"))


@cases(
    "expected, resource, text",
    ("1Gi was 0", GIB, "memory", "1Gi"),
    ("512M was 0", 512 * 10**6, "memory", "512M"),
    ("bytes were 0", 8_589_934_592, "memory", "8589934592"),
    ("0 was a panic", 0, "memory", "0"),
    ("0.5 was 0", 500, "cpu", "0.5"),
    ("100u was 0; the scheduler rounds up to a millicore", 1, "cpu", "100u"),
)
def test_b8_every_form_of_a_quantity_is_read(expected: int, resource: str, text: str) -> None:
    """B8: estafette read only Ki and Mi, millicores and whole cores; everything else was 0 or a panic."""
    assert Resources.parse({resource: text}).get(resource) == expected


@cases("expected, limit", ("0.6 gives 3", 3, 0.6), ("0.75 gives 4", 4, 0.75), ("0.9 gives 10, in floats 11", 10, 0.9))
def test_b14_the_required_count_is_exact(expected: int, limit: float) -> None:
    """B14: in floats 1/(1 - 0.9) is 10.000000000000002, whose ceiling asks for an eleventh node."""
    pool = parse(written(enabled=True, scaleDownCPURequestRatioLimit=limit)).pools["a"]

    assert pool.required_count == expected
    assert pool.required_count * (1 - pool.cpu_limit) >= 1 > (pool.required_count - 1) * (1 - pool.cpu_limit)


@pytest.mark.acceptance(52)
@cases(
    "expected, count, ready",
    ("two nodes stay two", ["minimum_nodes"], 2, True),
    ("of three one may go", [], 3, True),
    ("one that is not Ready leaves two that are", [], 3, False),
)
def test_n8_the_minimum_holds_after_the_removal(expected: list[str], count: int, *, ready: bool) -> None:
    """N8: node-refiner compared before the removal, so that a minimum of 2 let the second node go."""
    nodes = [node(f"n{i}", ready=ready or i > 0) for i in range(count)]
    where = count_nodes(nodes, {}, ClusterState(), policy(cluster_wide={"minimum_nodes": 2}), NOW)

    assert [blocker.reason for blocker in claim_blockers(where, nodes[0], DrainReason.EMPTY)] == expected


def test_n12_the_defaults_are_those_that_are_documented() -> None:
    """N12: node-refiner's README, code and manifest each had other defaults (2 or 3 nodes, a gap of 5 or 10 min)."""
    rules = parse(b"nodePools: {a: {}}")

    assert (rules.minimum_nodes, rules.minimum_non_tainted_nodes, rules.dry_run) == (2, 2, True)
    assert (rules.time_since_last_addition, rules.time_gap) == (60 * MINUTE, 10 * MINUTE)
    assert (rules.pool("a").excess_threshold, rules.pool("a").enabled) == (Fraction(2), False)
