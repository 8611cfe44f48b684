import json
from typing import Any

import pytest

from shared.core.policy.parsing import parse
from shared.errors import BadPolicy


def faults(document: object) -> tuple[str, ...]:
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    with pytest.raises(BadPolicy) as refused:
        parse(data)
    return refused.value.faults


def pool(**settings: Any) -> dict[str, Any]:
    return {"nodePools": {"a": settings}}


def committed(**settings: Any) -> dict[str, Any]:
    return {"cluster": {"commitments": settings}}


def n2(**changes: Any) -> dict[str, Any]:
    return committed(families={"n2": {"vcpu": 1, "gib": 4, **changes}})


def budgets(*rows: object) -> dict[str, Any]:
    return pool(disruption={"budgets": list(rows)})


@pytest.mark.acceptance(10)
@pytest.mark.parametrize(
    ("path", "value", "document"),
    [
        pytest.param("dryRun", '"no"', {"dryRun": "no"}, id="text for a truth value"),
        pytest.param("dryRun", "0", {"dryRun": 0}, id="a number for a truth value"),
        pytest.param("cluster.minimumNodes", "-1", {"cluster": {"minimumNodes": -1}}, id="a negative count"),
        pytest.param("cluster.minimumNodes", "true", {"cluster": {"minimumNodes": True}}, id="true is no number"),
        pytest.param("cluster.minimumNodes", '"2"', {"cluster": {"minimumNodes": "2"}}, id="text for a count"),
        pytest.param("cluster.timeGap", '"-5m"', {"cluster": {"timeGap": "-5m"}}, id="a negative duration"),
        pytest.param("cluster.timeGap", "10", {"cluster": {"timeGap": 10}}, id="a duration without unit"),
        pytest.param("cluster.timeGap", '"99999d"', {"cluster": {"timeGap": "99999d"}}, id="centuries"),
        pytest.param("cluster.timeGap", "[]", {"cluster": {"timeGap": []}}, id="a list for a duration"),
        pytest.param("drain.timeout", '"0s"', {"drain": {"timeout": "0s"}}, id="a drain without time"),
        pytest.param("manual.mayIgnore[0]", '"pause"', {"manual": {"mayIgnore": ["pause"]}}, id="not to be ignored"),
        pytest.param("cluster.commitments.families", "[]", committed(families=[]), id="a list of commitments"),
        pytest.param("cluster.commitments.families.n2", "160", committed(families={"n2": 160}),
                     id="a commitment without a unit"),
        pytest.param("cluster.commitments.families.n2.vcpu", "-1", n2(vcpu=-1), id="vCPUs below zero"),
        pytest.param("cluster.commitments.families.n2.gib", '"640GiB"', n2(gib="640GiB"), id="memory with its unit"),
        pytest.param("cluster.commitments.families.n2.until", '"May"', n2(until="May"), id="an end that is no date"),
        pytest.param("cluster.commitments.families.n2.discount", '"100%"', n2(discount="100%"),
                     id="a commitment for nothing"),
        pytest.param("cluster.commitments.flexible.perHour", "0", committed(flexible={"perHour": 0}),
                     id="a flexible commitment to nothing"),
        pytest.param("cluster.commitments.flexible.discount", "0.28",
                     committed(flexible={"perHour": 1, "discount": 0.28}), id="a discount as a ratio"),
        pytest.param("cluster.commitments.elsewhere", "0", committed(elsewhere=0), id="a number used elsewhere"),
        pytest.param("cluster.commitments.sharedBy[0]", '"a b"', committed(sharedBy=["a b"]), id="a name with a blank"),
        pytest.param("cluster.commitments.read", '"yes"', committed(read="yes"), id="text for whether to read"),
        pytest.param("cluster.wave.nodes", "0", {"cluster": {"wave": {"nodes": 0}}}, id="a wave of no nodes"),
        pytest.param("cluster.wave.nodes", '"0%"', {"cluster": {"wave": {"nodes": "0%"}}}, id="a wave of no share"),
        pytest.param("cluster.wave.deadline", '"5m"', {"cluster": {"wave": {"deadline": "5m"}}}, id="too short a wave"),
        pytest.param("cluster.wave.deadline", '"1h1s"', {"cluster": {"wave": {"deadline": "1h1s"}}}, id="of seconds"),
        pytest.param("nodePools", "[]", {"nodePools": []}, id="a list for a mapping"),
        pytest.param("nodePools.a", "5", {"nodePools": {"a": 5}}, id="a number for a pool"),
        pytest.param("nodePools.a.scaleDownCPURequestRatioLimit", "0", pool(scaleDownCPURequestRatioLimit=0),
                     id="ratio 0"),
        pytest.param("nodePools.a.scaleDownCPURequestRatioLimit", "1.01", pool(scaleDownCPURequestRatioLimit=1.01),
                     id="ratio > 1"),
        pytest.param("nodePools.a.scaleDownMemoryRequestRatioLimit", '"0.5"',
                     pool(scaleDownMemoryRequestRatioLimit="0.5"), id="text for a ratio"),
        pytest.param("nodePools.a.scaleDownRequiredUnderutilizedNodeCount", '"5"',
                     pool(scaleDownRequiredUnderutilizedNodeCount="5"), id="estafette's B3: a count in quotes"),
        pytest.param("nodePools.a.excessNodesThreshold", "-0.5", pool(excessNodesThreshold=-0.5),
                     id="a negative excess"),
        pytest.param("nodePools.a.maxNodesPerPass", "0", pool(maxNodesPerPass=0), id="no node per pass"),
        pytest.param("nodePools.a.headroom", '"101%"', pool(headroom="101%"), id="too much headroom"),
        pytest.param("nodePools.a.ignoreTaints[0]", '"k=v:NoSchedule"', pool(ignoreTaints=["k=v:NoSchedule"]),
                     id="a taint"),
        pytest.param("nodePools.a.rate.per", '"8d"', pool(rate={"nodes": 1, "per": "8d"}), id="too long a rate"),
        pytest.param("nodePools.a.rate.per", '"7d1m"', pool(rate={"nodes": 1, "per": "7d1m"}),
                     id="a rate a minute too long"),
    ],
)  # fmt: skip
def test_a_value_out_of_range_is_refused_by_its_path(path: str, value: str, document: object) -> None:
    (fault,) = faults(document)
    assert fault.startswith(f"{path}: value {value.replace(chr(34), chr(39))} is wrong; write ")


@pytest.mark.acceptance(60)
@pytest.mark.parametrize("nodes", [-1, "-5%", "101%", 1.5, "abc", "1000a%", True, "", "10 %", [1]])
def test_a_budget_of_anything_but_nodes_is_refused(nodes: object) -> None:
    (fault,) = faults(budgets({"nodes": nodes}))
    assert fault.startswith("nodePools.a.disruption.budgets[0].nodes: value ")
    assert fault.endswith("write a whole number of nodes such as 5, or a percentage from 0% to 100%.")


@pytest.mark.acceptance(60)
def test_a_budget_without_nodes_is_refused() -> None:
    assert faults(budgets({})) == ("nodePools.a.disruption.budgets[0].nodes: it is missing; write for example 10%.",)


@pytest.mark.acceptance(63)
@pytest.mark.parametrize("alone", [{"schedule": "0 9 * * *"}, {"duration": "8h"}])
def test_schedule_and_duration_belong_together(alone: dict[str, str]) -> None:
    (fault,) = faults(budgets({"nodes": 1, **alone}))
    assert "schedule and duration belong together; write both or neither" in fault


@pytest.mark.acceptance(66)
@pytest.mark.parametrize("cron", ["@wrongly", "0 0 30 2 *", "0 9 * * tue-mon", "* * * * * *", 5])
def test_a_schedule_that_never_hits_or_cannot_be_read_is_refused(cron: object) -> None:
    (fault,) = faults(budgets({"nodes": 1, "schedule": cron, "duration": "8h"}))
    assert fault.startswith("nodePools.a.disruption.budgets[0].schedule: value ")
    assert "write " in fault


@pytest.mark.acceptance(68)
@pytest.mark.parametrize("length", ["8h30s", "0m", "0h0m", "-1h", "30s", "Never", "8", 8, "1h0m1s"])
def test_a_window_of_seconds_or_of_nothing_is_refused(length: object) -> None:
    (fault,) = faults(budgets({"nodes": 1, "schedule": "0 9 * * *", "duration": length}))
    assert fault.startswith("nodePools.a.disruption.budgets[0].duration: value ")


@pytest.mark.acceptance(68)
@pytest.mark.parametrize("length", ["8h", "1h30m", "90m", "160h", "6d", "1h0m0s"])
def test_a_window_of_minutes_or_more_is_taken(length: str) -> None:
    parse(json.dumps(budgets({"nodes": 1, "schedule": "0 9 * * *", "duration": length})).encode())


@pytest.mark.acceptance(77)
def test_an_unknown_consolidation_policy_is_refused_with_the_known_ones() -> None:
    (fault,) = faults(pool(disruption={"consolidationPolicy": "Balanced"}))
    assert fault.endswith("'Balanced' is wrong; write one of WhenUnderutilized, WhenEmpty, WhenEmptyOrUnderutilized.")


@pytest.mark.parametrize(
    ("expected", "document"),
    [
        pytest.param(
            "nodePools.a.scaleDownCpuRequestRatioLimit: there is no such field; "
            "write scaleDownCPURequestRatioLimit, if that was meant.",
            pool(scaleDownCpuRequestRatioLimit=0.5),
            id="another spelling",
        ),
        pytest.param("cluster.minimumNode: there is no such field; write minimumNodes, if that was meant.",
                     {"cluster": {"minimumNode": 2}}, id="a letter short"),
        pytest.param("manual.x: there is no such field; write one of mayIgnore.", {"manual": {"x": 1}},
                     id="nothing is near"),
        pytest.param(
            "nodePools.a.disruption.budgets[0].reason: there is no such field; write reasons, if that was meant.",
            budgets({"nodes": 1, "reason": "empty"}),
            id="deep inside",
        ),
    ],
)  # fmt: skip
def test_an_unknown_field_is_refused_with_the_nearest_one(expected: str, document: object) -> None:
    assert faults(document) == (expected,)


@pytest.mark.parametrize(
    ("expected", "document"),
    [
        pytest.param("nodePools.a.consolidateAfter: {} disruption.", pool(consolidateAfter="5m"), id="no block"),
        pytest.param("nodePools.a.budgets: {} disruption.", pool(budgets=[]), id="the own block"),
        pytest.param("nodePools.a.minimumNodes: {} cluster.", pool(minimumNodes=2), id="the cluster's"),
        pytest.param("defaults.windows: {} disruption.", {"defaults": {"windows": []}}, id="what holds for all pools"),
        pytest.param("cluster.enabled: {} nodePools.NAME.", {"cluster": {"enabled": True}}, id="a pool's"),
        pytest.param("minimumNodes: {} cluster.", {"minimumNodes": 2}, id="at the top"),
        pytest.param("cluster.dryRun: {} the top of the document.", {"cluster": {"dryRun": True}}, id="not at the top"),
        pytest.param("nodePools.a.nodes: {} disruption.budgets or rate.", pool(nodes=1), id="of two equally near"),
        pytest.param("drain.first: {} backoff.", {"drain": {"first": "1h"}}, id="one block deeper"),
    ],
)  # fmt: skip
def test_a_field_at_the_wrong_place_is_shown_where_it_belongs(expected: str, document: object) -> None:
    assert faults(document) == (expected.format("there is no such field; it belongs under"),)


@pytest.mark.parametrize(
    ("expected", "document"),
    [
        pytest.param("write true or false, without quotes.", pool(enabled="true"), id="a truth value"),
        pytest.param("from 1 to 1000000, without quotes.", pool(maxNodesPerPass="2"), id="a count"),
        pytest.param("such as 0.75, without quotes.", pool(scaleDownCPURequestRatioLimit="0.75"), id="a ratio"),
        pytest.param("write true or false.", pool(enabled="yes"), id="a word that is none"),
        pytest.param("such as 30s, 20m, 1h30m or 30d.", pool(minimumNodeAge="20"), id="a duration keeps its quotes"),
    ],
)
def test_who_wrote_quotes_is_shown_to_leave_them_out(expected: str, document: object) -> None:
    (fault,) = faults(document)
    assert fault.endswith(expected)


NODE_POOL = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "a"}, "spec": {}}
COMPACTOR = {"estafette-k8s-node-compactor-config.yaml": "{}"}


def config_map(data: dict[str, str]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "data": data}


@pytest.mark.parametrize(
    ("expected", "document"),
    [
        pytest.param("a NodePool of Kubernetes and no policy; convert it with `ebb policy import karpenter`.",
                     NODE_POOL, id="Karpenter's"),
        pytest.param("a NodePool of Kubernetes and no policy; convert it with `ebb policy import karpenter`.",
                     {"apiVersion": "v1", "kind": "List", "items": [NODE_POOL, NODE_POOL]}, id="a list of them"),
        pytest.param("a ConfigMap of Kubernetes and no policy; convert it with `ebb policy import estafette`.",
                     config_map(COMPACTOR), id="estafette's"),
        pytest.param("a ConfigMap of Kubernetes and no policy; convert it with `ebb policy import node-refiner`.",
                     config_map({"drainer_enabled": "true"}), id="node-refiner's"),
        pytest.param("with `ebb policy import estafette` or `ebb policy import node-refiner`.",
                     config_map({"x": "y"}), id="a ConfigMap that does not show"),
        pytest.param("a Pod of Kubernetes and no policy; write at least `nodePools: {}`.",
                     {"apiVersion": "v1", "kind": "Pod"}, id="another object"),
        pytest.param("a dump of a cluster and no policy; `ebb policy init FILE`",
                     {"apiVersion": "v1", "kind": "List", "items": [{"kind": "Node"}, {"kind": "Service"}]},
                     id="a dump"),
        pytest.param("an object of Kubernetes and no policy;", {"apiVersion": "v1", "kind": "List", "items": []},
                     id="an empty list"),
    ],
)  # fmt: skip
def test_a_file_for_another_command_is_shown_which(expected: str, document: object) -> None:
    (fault,) = faults(document)
    assert fault.startswith("policy: it is ")
    assert expected in fault


@pytest.mark.parametrize(
    ("expected", "data"),
    [
        pytest.param("indent with spaces, not with tabs.", b"nodePools:\n\ta: {}", id="a tab"),
        pytest.param("write one document; NodePools of Karpenter are", b"a: 2\n---\nb: 3", id="several documents"),
        pytest.param("fix it there.", b"a: [", id="anything else"),
    ],
)
def test_what_cannot_be_read_shows_what_to_do(expected: str, data: bytes) -> None:
    (fault,) = faults(data)
    assert expected in fault


@pytest.mark.parametrize(
    ("expected", "document"),
    [
        pytest.param(
            "cluster.freezes[0].to: value '2026-11-27' is wrong; it does not "
            "lie after from; write a later date or time.",
            {"cluster": {"freezes": [{"from": "2026-11-27", "to": "2026-11-27"}]}},
            id="a freeze of nothing",
        ),
        pytest.param(
            "drain.backoff.most: value '1h' is wrong; it is shorter than first; write a duration of at least first.",
            {"drain": {"backoff": {"first": "2h", "most": "1h"}}},
            id="a back-off that shrinks",
        ),
        pytest.param(
            "nodePools.a.disruption.budgets[0].timeZone: value 'Mars' is wrong; "
            "no time zone of that name is known; write for example UTC or Europe/Amsterdam.",
            budgets({"nodes": 1, "schedule": "0 9 * * *", "duration": "8h", "timeZone": "Mars"}),
            id="a zone that does not exist",
        ),
    ],
)
def test_values_that_contradict_each_other_are_refused(expected: str, document: object) -> None:
    assert faults(document) == (expected,)


@pytest.mark.acceptance(8)
def test_all_faults_are_shown_at_once_and_nothing_is_applied() -> None:
    document = {
        "dryRun": "no",
        "cluster": {"timeGap": 10, "minimumNode": 1},
        "defaults": {"headroom": "x"},
        "nodePools": {"a": {"enabled": 1, "disruption": {"budgets": [{}, {"nodes": -1, "duration": "0m"}]}}},
    }
    assert [fault.split(":")[0] for fault in faults(document)] == [
        "dryRun",
        "cluster.timeGap",
        "cluster.minimumNode",
        "defaults.headroom",
        "nodePools.a.enabled",
        "nodePools.a.disruption.budgets[0].nodes",
        "nodePools.a.disruption.budgets[1].nodes",
        "nodePools.a.disruption.budgets[1].duration",
    ]


def bomb() -> bytes:
    rows = ["x0: &x0 [1,1,1,1,1,1,1,1,1,1]"]
    rows += [f"x{i}: &x{i} [{','.join([f'*x{i - 1}'] * 10)}]" for i in range(1, 9)]
    return "\n".join(rows).encode()


@pytest.mark.acceptance(9)
@pytest.mark.parametrize(
    ("expected", "data"),
    [
        pytest.param("it is empty or no mapping", b"", id="nothing"),
        pytest.param("it is empty or no mapping", b"[1]", id="a list"),
        pytest.param("line 2: the key 'dryRun' stands twice", b"dryRun: true\ndryRun: false", id="a key twice in YAML"),
        pytest.param("the key 'dryRun' stands twice", b'{"dryRun": true, "dryRun": false}', id="a key twice in JSON"),
        pytest.param("write out to over 100000 values", bomb(), id="a bomb of anchors"),
        pytest.param("an anchor contains itself", b"a: &a [*a]", id="an anchor in itself"),
        pytest.param("nested too deeply", b"a: " + b"[" * 5000, id="a deep nest"),
        pytest.param("are too many; write at most", b" " * 300_000, id="a large file"),
        pytest.param("`ebb policy init FILE`", b'{"apiVersion": "v1", "items": [' + b" " * 300_000,
                     id="a dump of a cluster"),
        pytest.param("byte 0 is not UTF-8", b"\xff", id="another encoding"),
        pytest.param("line 1, column 5", b"a: [", id="an open bracket"),
        pytest.param("line 2, column 1", b"a: 2\n---\nb: 3", id="two documents"),
        pytest.param("determine a constructor", b"a: !!python/object:os.system {}", id="a tag"),
        pytest.param("NaN is no number", b'{"a": NaN}', id="not a number"),
        pytest.param("cannot be read", b"a: 1e999999999999999999999", id="an immense exponent"),
        pytest.param("value 1E+999999 is wrong", b"nodePools: {a: {excessNodesThreshold: 1e999999}}",
                     id="a huge number"),
    ],
)  # fmt: skip
def test_a_document_that_cannot_be_trusted_is_refused_in_one_sentence(expected: str, data: bytes) -> None:
    (fault,) = faults(data)
    assert expected in fault


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        pytest.param(10, "cluster: {minimumNodes: 010}", id="010 is ten"),
        pytest.param(7, "cluster: {minimumNodes: +7}", id="a sign"),
    ],
)
def test_numbers_are_those_of_yaml_1_2(expected: int, text: str) -> None:
    assert parse(text.encode()).minimum_nodes == expected


def test_anchors_may_be_used_within_reason() -> None:
    text = "defaults: {disruption: {budgets: &b [{nodes: 5}]}}\ncluster: {disruption: {budgets: *b}}"
    assert parse(text.encode()).budgets[0].nodes.count == 5
