"""How one thing is taken away from a picture or a policy: all of it, and nothing beside it."""

from dataclasses import replace
from typing import Any

import pytest

from functions.cli.analysis.exclusions import Exclusion
from functions.cli.analysis.relaxations import RELAXATIONS, Relaxation, Scope
from shared.core.cluster import names
from shared.core.cluster.workloads import Workload
from shared.core.policy import Limit, Policy, PoolPolicy
from shared.core.policy.parsing import parse
from shared.core.reasons import PodBlock, Reason, Unremovable
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.builders import cluster, node, pdb, pod, policy
from tests.depth import cases

UNTIL = {names.OPT_OUT_UNTIL: "2030-01-01"}


def situation(*things: Any, **changes: Any) -> Situation:
    nodes = [thing for thing in things if hasattr(thing, "allocatable")] or [node("n1")]
    return Situation(
        cluster(nodes, [thing for thing in things if hasattr(thing, "spec")], **changes), ClusterState(), policy()
    )


@cases("expected, allowed", ("none", 1, 0), ("two, once seen", 2, 2))
def test_one_pod_may_go_whatever_the_budget_asked_for_and_more_if_it_allows_more(expected: int, allowed: int) -> None:
    budgets = (pdb("web", allowed=allowed, app="web", min_available=Limit(count=3), expected_pods=3, observed=False),)

    changed = Relaxation(PodBlock.PDB_NEVER_ALLOWS, "default/web").apply(situation(disruption_budgets=budgets))

    (found,) = changed.snapshot.disruption_budgets
    assert (found.disruptions_allowed, found.min_available, found.max_unavailable) == (expected, None, Limit(count=1))


COUNTED = b"defaults: {scaleDownRequiredUnderutilizedNodeCount: 4}\n"


def _settings(own: Policy) -> tuple[object, ...]:
    return own.pool("a"), own.paused, own.minimum_nodes, own.minimum_non_tainted_nodes


@pytest.mark.parametrize("reason", [reason for reason, row in RELAXATIONS.items() if row.policy])
def test_the_line_of_the_policy_that_a_person_writes_is_what_is_tried(reason: Reason) -> None:
    """The required count is written out: without that it follows from the CPU limit."""
    in_pool = RELAXATIONS[reason].scope in {Scope.POOL, Scope.TAINT}
    about = Relaxation(reason, "a" if in_pool else "", "mine" if RELAXATIONS[reason].scope is Scope.TAINT else "")
    given = Situation(cluster([node("n1")]), ClusterState(), parse(COUNTED if in_pool else b"{}"))

    line = about.remedy.removeprefix("policy: ").partition("  #")[0].encode()
    written = parse(COUNTED + line if in_pool else line)
    assert _settings(about.apply(given).policy) == _settings(written)


@pytest.mark.parametrize("where", ["annotations", "labels"])
def test_opt_outs_of_a_pod_and_of_a_node_are_taken_away_wherever_they_stand(where: str) -> None:
    keys = names.POD_OPT_OUTS if where == "annotations" else names.POD_OPT_OUT_LABELS
    on_pod: dict[str, Any] = {where: {**dict.fromkeys(keys, "true"), **UNTIL, "mine": "stays"}}
    on_node: dict[str, Any] = {where: {**dict.fromkeys(names.NODE_OPT_OUTS, "true"), **UNTIL}}
    given = situation(node("n1", **on_node), pod("p", on="n1", **on_pod))

    pods = Relaxation(PodBlock.DO_NOT_DISRUPT, "default/ReplicaSet/web").apply(given).snapshot.pods
    nodes = Relaxation(Unremovable.SCALE_DOWN_DISABLED, "n1").apply(given).snapshot.nodes
    assert getattr(pods[0].spec, where) == {"mine": "stays"}
    assert not on_node[where].keys() & getattr(nodes[0], where).keys()


def test_headroom_is_taken_from_pools_that_the_policy_does_not_name_too() -> None:
    own = policy(headroom_percent=20)
    own = replace(own, other_pools=PoolPolicy(headroom_percent=10))

    changed = Relaxation(Exclusion.ROOM).apply(Situation(cluster([node("n1")]), ClusterState(), own))

    assert {changed.policy.pool(name).headroom_percent for name in ("a", "other")} == {0}


def test_a_pod_under_a_new_owner_keeps_the_counts_of_its_workload() -> None:
    own = Workload("default/Custom/x", 3, 3)
    given = situation(pod("p", on="n1", owner="Custom/x"))
    given = replace(given, snapshot=replace(given.snapshot, workloads={"default/Custom/x": own}))

    changed = Relaxation(PodBlock.NOT_REPLICATED, "default/Custom/x").apply(given)

    assert changed.snapshot.workloads[changed.snapshot.pods[0].spec.workload] == own
