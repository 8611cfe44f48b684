"""The files that Karpenter, estafette and node-refiner really have are read."""

import json
from datetime import timedelta
from textwrap import dedent
from typing import Any

import pytest

from functions.cli.policy.importing.estafette import from_estafette
from functions.cli.policy.importing.karpenter import from_karpenter
from shared.core.policy import Limit, PoolPolicy
from shared.errors import BadPolicy
from tests.cli.policy.test_importing import policy
from tests.depth import cases

MINUTE = timedelta(minutes=1)
CONFIGURATION = '{"nodePools": {"web": {"enabled": true, "scaleDownCPURequestRatioLimit": 0.6}}}'


def node_pool(**spec: Any) -> dict[str, Any]:
    """A NodePool as `kubectl get --raw` prints it: in a list whose items name no kind."""
    return {"metadata": {"name": "a"}, "spec": {"template": {"spec": {"expireAfter": "Never"}}, **spec}}


def raw(*pools: dict[str, Any]) -> bytes:
    return json.dumps({"apiVersion": "karpenter.sh/v1", "kind": "NodePoolList", "items": pools}).encode()


def imported(*pools: dict[str, Any]) -> tuple[PoolPolicy, str]:
    found = from_karpenter(raw(*pools))
    return policy(found).pools["a"], " ".join(found.notes)


def test_a_list_whose_items_name_no_kind_is_read() -> None:
    pool, _ = imported(node_pool(disruption={"consolidateAfter": "1m"}))

    assert (pool.enabled, pool.consolidate_after) == (True, MINUTE)


@cases(
    "expected, spec",
    ("a static pool", "it is static (spec.replicas)", {"replicas": 5, "limits": {"nodes": 8}}),
    ("one of no nodes", "it is static (spec.replicas)", {"replicas": 0}),
    ("nodes that may not be disrupted", "its template carries karpenter.sh/do-not-disrupt",
     {"template": {"metadata": {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}}}),
)  # fmt: skip
def test_what_karpenter_left_alone_stays_alone_with_a_note(expected: str, spec: dict[str, Any]) -> None:
    pool, notes = imported(node_pool(**spec))

    assert pool.enabled is False
    assert f"nodePools.a: {expected}" in notes


def test_an_annotation_that_shows_false_forbids_nothing() -> None:
    annotations = {"annotations": {"karpenter.sh/do-not-disrupt": "false"}}

    assert imported(node_pool(template={"metadata": annotations}))[0].enabled is True


@pytest.mark.parametrize("reason", ["Unhealthy", "Drifted"])
def test_a_reason_that_ebb_never_has_is_read_and_never_matches(reason: str) -> None:
    pool, _ = imported(node_pool(disruption={"budgets": [{"nodes": "0", "reasons": [reason]}, {"nodes": "1"}]}))

    assert [budget.reasons for budget in pool.budgets] == [{reason.lower()}, set()]


@cases(
    "expected, nodes",
    ("the largest of 32 bits", 2_147_483_647, "2147483647"),
    ("more than any machine counts", 10**40, "1" + "0" * 40),
    ("without quotes", 10**40, 10**40),
    ("zeros before it", 5, "0" * 5_000 + "5"),
)
def test_a_number_of_nodes_of_any_length_is_a_limit_that_never_binds_below_it(expected: int, nodes: str | int) -> None:
    pool, _ = imported(node_pool(disruption={"budgets": [{"nodes": nodes}]}))

    most = 999_999_999
    assert pool.budgets[0].nodes == Limit(count=min(expected, most))


@cases(
    "expected, written",
    ("a hundred years, written for never", timedelta(days=36_500), "876000h"),
    ("the longest that Go reads", timedelta(hours=2_562_024), "2562024h"),
)
def test_an_age_of_any_length_that_karpenter_reads_is_read(expected: timedelta, written: str) -> None:
    pool, _ = imported(node_pool(template={"spec": {"expireAfter": written}}, disruption={"consolidateAfter": written}))

    assert (pool.expire_after, pool.consolidate_after) == (expected, expected)


def test_a_longer_age_is_refused_with_what_to_write() -> None:
    with pytest.raises(BadPolicy, match="write at most 106751d, or Never"):
        imported(node_pool(template={"spec": {"expireAfter": "9999999h"}}))


CHART = dedent(f"""\
    apiVersion: v1
    kind: ServiceAccount
    metadata: {{name: compactor}}
    ---
    apiVersion: v1
    kind: ConfigMap
    metadata: {{name: compactor}}
    data:
      estafette-k8s-node-compactor-config.yaml: |
        {CONFIGURATION}
    ---
    apiVersion: rbac.authorization.k8s.io/v1
    kind: ClusterRole
    metadata: {{name: compactor}}
    """).encode()
"""Objects of estafette's chart as `helm template` prints them."""
VALUES = "\n".join(["configmap:", f"  compactorConfig: '{CONFIGURATION}'", "replicaCount: 1"]).encode()


@pytest.mark.parametrize("data", [CHART, VALUES], ids=["what helm template prints", "the chart's values"])
def test_the_pools_of_estafettes_chart_are_read(data: bytes) -> None:
    assert policy(from_estafette(data)).pools["web"].enabled
