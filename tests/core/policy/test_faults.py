import json
from typing import Any

import pytest

from shared.core.policy.parsing import parse
from shared.errors import BadPolicy
from tests.depth import cases


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
@cases(
    "path, value, document",
    ("text for a truth value", "dryRun", '"no"', {"dryRun": "no"}),
    ("a number for a truth value", "dryRun", "0", {"dryRun": 0}),
    ("a negative count", "cluster.minimumNodes", "-1", {"cluster": {"minimumNodes": -1}}),
    ("true is no number", "cluster.minimumNodes", "true", {"cluster": {"minimumNodes": True}}),
    ("text for a count", "cluster.minimumNodes", '"2"', {"cluster": {"minimumNodes": "2"}}),
    ("a negative duration", "cluster.timeGap", '"-5m"', {"cluster": {"timeGap": "-5m"}}),
    ("a duration without unit", "cluster.timeGap", "10", {"cluster": {"timeGap": 10}}),
    ("centuries", "cluster.timeGap", '"99999d"', {"cluster": {"timeGap": "99999d"}}),
    ("a list for a duration", "cluster.timeGap", "[]", {"cluster": {"timeGap": []}}),
    ("a drain without time", "drain.timeout", '"0s"', {"drain": {"timeout": "0s"}}),
    ("not to be ignored", "manual.mayIgnore[0]", '"pause"', {"manual": {"mayIgnore": ["pause"]}}),
    ("a list of commitments", "cluster.commitments.families", "[]", committed(families=[])),
    ("a commitment without a unit", "cluster.commitments.families.n2", "160", committed(families={"n2": 160})),
    ("vCPUs below zero", "cluster.commitments.families.n2.vcpu", "-1", n2(vcpu=-1)),
    ("memory with its unit", "cluster.commitments.families.n2.gib", '"640GiB"', n2(gib="640GiB")),
    ("an end that is no date", "cluster.commitments.families.n2.until", '"May"', n2(until="May")),
    ("a commitment for nothing", "cluster.commitments.families.n2.discount", '"100%"', n2(discount="100%")),
    ("a flexible commitment to nothing", "cluster.commitments.flexible.perHour", "0",
     committed(flexible={"perHour": 0})),
    ("a discount as a ratio", "cluster.commitments.flexible.discount", "0.28",
     committed(flexible={"perHour": 1, "discount": 0.28})),
    ("a number used elsewhere", "cluster.commitments.elsewhere", "0", committed(elsewhere=0)),
    ("a name with a blank", "cluster.commitments.sharedBy[0]", '"a b"', committed(sharedBy=["a b"])),
    ("text for whether to read", "cluster.commitments.read", '"yes"', committed(read="yes")),
    ("a wave of no nodes", "cluster.wave.nodes", "0", {"cluster": {"wave": {"nodes": 0}}}),
    ("a wave of no share", "cluster.wave.nodes", '"0%"', {"cluster": {"wave": {"nodes": "0%"}}}),
    ("too short a wave", "cluster.wave.deadline", '"5m"', {"cluster": {"wave": {"deadline": "5m"}}}),
    ("of seconds", "cluster.wave.deadline", '"1h1s"', {"cluster": {"wave": {"deadline": "1h1s"}}}),
    ("a list for a mapping", "nodePools", "[]", {"nodePools": []}),
    ("a number for a pool", "nodePools.a", "5", {"nodePools": {"a": 5}}),
    ("ratio 0", "nodePools.a.scaleDownCPURequestRatioLimit", "0", pool(scaleDownCPURequestRatioLimit=0)),
    ("ratio > 1", "nodePools.a.scaleDownCPURequestRatioLimit", "1.01", pool(scaleDownCPURequestRatioLimit=1.01)),
    ("text for a ratio", "nodePools.a.scaleDownMemoryRequestRatioLimit", '"0.5"',
     pool(scaleDownMemoryRequestRatioLimit="0.5")),
    ("estafette's B3: a count in quotes", "nodePools.a.scaleDownRequiredUnderutilizedNodeCount", '"5"',
     pool(scaleDownRequiredUnderutilizedNodeCount="5")),
    ("a negative excess", "nodePools.a.excessNodesThreshold", "-0.5", pool(excessNodesThreshold=-0.5)),
    ("no node per pass", "nodePools.a.maxNodesPerPass", "0", pool(maxNodesPerPass=0)),
    ("too much headroom", "nodePools.a.headroom", '"101%"', pool(headroom="101%")),
    ("a taint", "nodePools.a.ignoreTaints[0]", '"k=v:NoSchedule"', pool(ignoreTaints=["k=v:NoSchedule"])),
    ("too long a rate", "nodePools.a.rate.per", '"8d"', pool(rate={"nodes": 1, "per": "8d"})),
    ("a rate a minute too long", "nodePools.a.rate.per", '"7d1m"', pool(rate={"nodes": 1, "per": "7d1m"})),
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


@cases(
    "expected, document",
    ("another spelling",
     ("nodePools.a.scaleDownCpuRequestRatioLimit: there is no such field; "
      "write scaleDownCPURequestRatioLimit, if that was meant."),
     pool(scaleDownCpuRequestRatioLimit=0.5)),
    ("a letter short", "cluster.minimumNode: there is no such field; write minimumNodes, if that was meant.",
     {"cluster": {"minimumNode": 2}}),
    ("nothing is near", "manual.x: there is no such field; write one of mayIgnore.", {"manual": {"x": 1}}),
    ("deep inside",
     "nodePools.a.disruption.budgets[0].reason: there is no such field; write reasons, if that was meant.",
     budgets({"nodes": 1, "reason": "empty"})),
)  # fmt: skip
def test_an_unknown_field_is_refused_with_the_nearest_one(expected: str, document: object) -> None:
    assert faults(document) == (expected,)


@cases(
    "expected, document",
    ("no block", "nodePools.a.consolidateAfter: {} nodePools.NAME.disruption.", pool(consolidateAfter="5m")),
    ("the own block", "nodePools.a.budgets: {} nodePools.NAME.disruption.", pool(budgets=[])),
    ("the cluster's", "nodePools.a.minimumNodes: {} cluster.", pool(minimumNodes=2)),
    ("what holds for all pools", "defaults.windows: {} defaults.disruption.", {"defaults": {"windows": []}}),
    ("a pool's", "cluster.enabled: {} nodePools.NAME.", {"cluster": {"enabled": True}}),
    ("at the top", "minimumNodes: {} cluster.", {"minimumNodes": 2}),
    ("not at the top", "cluster.dryRun: {} the top of the document.", {"cluster": {"dryRun": True}}),
    ("of two", "nodePools.a.nodes: {} nodePools.NAME.disruption.budgets or nodePools.NAME.rate.", pool(nodes=1)),
    ("one block deeper", "drain.first: {} drain.backoff.", {"drain": {"first": "1h"}}),
)
def test_a_field_at_the_wrong_place_is_shown_where_it_belongs(expected: str, document: object) -> None:
    assert faults(document) == (expected.format("there is no such field; it belongs under"),)


@cases(
    "expected, document",
    ("a truth value", "write true or false, without quotes.", pool(enabled="true")),
    ("a count", "from 1 to 1000000, without quotes.", pool(maxNodesPerPass="2")),
    ("a ratio", "such as 0.75, without quotes.", pool(scaleDownCPURequestRatioLimit="0.75")),
    ("a word that is none", "write true or false.", pool(enabled="yes")),
    ("a duration keeps its quotes", "such as 30s, 20m, 1h30m or 30d.", pool(minimumNodeAge="20")),
)
def test_who_wrote_quotes_is_shown_to_leave_them_out(expected: str, document: object) -> None:
    (fault,) = faults(document)
    assert fault.endswith(expected)


@pytest.mark.parametrize("kind", ["NodePool", "ConfigMap", "List"])
def test_a_file_for_another_command_is_shown_which(kind: str) -> None:
    (fault,) = faults({"apiVersion": "v1", "kind": kind})
    assert fault == (
        f"policy: it is a {kind} of Kubernetes and no policy; "
        "for another tool's settings use `ebb policy import`, for a dump of a cluster `ebb policy init FILE`."
    )


@cases(
    "expected, data",
    ("a tab", "indent with spaces, not with tabs.", b"nodePools:\n\ta: {}"),
    ("several documents", "write one document; NodePools of Karpenter are", b"a: 2\n---\nb: 3"),
    ("anything else", "fix it there.", b"a: ["),
)
def test_what_cannot_be_read_shows_what_to_do(expected: str, data: bytes) -> None:
    (fault,) = faults(data)
    assert expected in fault


@cases(
    "expected, document",
    ("a freeze of nothing",
     "cluster.freezes[0].to: value '2026-11-27' is wrong; it does not lie after from; write a later date or time.",
     {"cluster": {"freezes": [{"from": "2026-11-27", "to": "2026-11-27"}]}}),
    ("a back-off that shrinks",
     "drain.backoff.most: value '1h' is wrong; it is shorter than first; write a duration of at least first.",
     {"drain": {"backoff": {"first": "2h", "most": "1h"}}}),
    ("a zone that does not exist",
     ("nodePools.a.disruption.budgets[0].timeZone: value 'Mars' is wrong; "
      "no time zone of that name is known; write for example UTC or Europe/Amsterdam."),
     budgets({"nodes": 1, "schedule": "0 9 * * *", "duration": "8h", "timeZone": "Mars"})),
)  # fmt: skip
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
@cases(
    "expected, data",
    ("nothing", "it is empty or no mapping", b""),
    ("a list", "it is empty or no mapping", b"[1]"),
    ("a key twice in YAML", "line 2: the key 'dryRun' stands twice", b"dryRun: true\ndryRun: false"),
    ("a key twice in JSON", "the key 'dryRun' stands twice", b'{"dryRun": true, "dryRun": false}'),
    ("a bomb of anchors", "write out to over 100000 values", bomb()),
    ("an anchor in itself", "an anchor contains itself", b"a: &a [*a]"),
    ("a deep nest", "nested too deeply", b"a: " + b"[" * 5000),
    ("a large file", "are too many; write at most", b" " * 300_000),
    ("a dump of a cluster", "`ebb policy init FILE`", b'{"apiVersion": "v1", "items": [' + b" " * 300_000),
    ("another encoding", "byte 0 is not UTF-8", b"\xff"),
    ("an open bracket", "line 1, column 5", b"a: ["),
    ("two documents", "line 2, column 1", b"a: 2\n---\nb: 3"),
    ("a tag", "determine a constructor", b"a: !!python/object:os.system {}"),
    ("not a number", "NaN is no number", b'{"a": NaN}'),
    ("an immense exponent", "cannot be read", b"a: 1e999999999999999999999"),
    ("a huge number", "value 1E+999999 is wrong", b"nodePools: {a: {excessNodesThreshold: 1e999999}}"),
)
def test_a_document_that_cannot_be_trusted_is_refused_in_one_sentence(expected: str, data: bytes) -> None:
    (fault,) = faults(data)
    assert expected in fault


@cases(
    "expected, text", ("010 is ten", 10, "cluster: {minimumNodes: 010}"), ("a sign", 7, "cluster: {minimumNodes: +7}")
)
def test_numbers_are_those_of_yaml_1_2(expected: int, text: str) -> None:
    assert parse(text.encode()).minimum_nodes == expected


def test_anchors_may_be_used_within_reason() -> None:
    text = "defaults: {disruption: {budgets: &b [{nodes: 5}]}}\ncluster: {disruption: {budgets: *b}}"
    assert parse(text.encode()).budgets[0].nodes.count == 5
