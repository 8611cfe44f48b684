"""Every conversion gives a policy that is valid, or sentences; each value says where it came from."""

import json
from collections.abc import Callable
from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from functions.cli.policy.importing.estafette import KEY, from_estafette
from functions.cli.policy.importing.karpenter import from_karpenter
from functions.cli.policy.importing.node_refiner import from_node_refiner
from functions.cli.policy.importing.writing import Imported
from shared.core.policy import Budget, Limit, Policy, PoolPolicy, Schedule
from shared.core.policy.parsing import parse
from shared.errors import BadPolicy
from tests.depth import cases, examples

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
LIMIT, COUNT = "scaleDownCPURequestRatioLimit", "scaleDownRequiredUnderutilizedNodeCount"


def policy(found: Imported) -> Policy:
    return parse(found.document.encode())


def estafette(**pools: Any) -> bytes:
    return json.dumps({"nodePools": pools}).encode()


def config_map(data: dict[str, Any], name: str = "x") -> bytes:
    return yaml.safe_dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}).encode()


def listed(*things: dict[str, Any]) -> bytes:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": things}).encode()


def node_pool(name: str = "a", version: str = "v1", template: Any = None, **spec: Any) -> dict[str, Any]:
    body = {"template": {"spec": template or {}}, **spec}
    return {"apiVersion": f"karpenter.sh/{version}", "kind": "NodePool", "metadata": {"name": name}, "spec": body}


def karpenter(*pools: dict[str, Any]) -> bytes:
    return yaml.safe_dump_all(pools).encode()


FULL = {"enabled": True, LIMIT: 0.75, COUNT: 5}


@pytest.mark.acceptance(6)
@cases(
    "data",
    ("the JSON itself", estafette(a=FULL)),
    ("its ConfigMap", config_map({KEY: estafette(a=FULL).decode()})),
    ("a list from kubectl", listed({"data": {KEY: estafette(a=FULL).decode()}})),
)
def test_an_estafette_pool_keeps_its_settings(data: bytes) -> None:
    pool = policy(from_estafette(data)).pools["a"]
    assert (pool.enabled, pool.cpu_limit, pool.required_count) == (True, Fraction(3, 4), 5)
    assert (pool.consolidate_after, pool.minimum_node_age, pool.expire_after) == (5 * MINUTE, 20 * MINUTE, None)


@cases(
    "expected, field, pool",
    ("enabled is false when it is left out", False, "enabled", {LIMIT: 0.75}),
    ("without a limit nothing was ever compacted", False, "enabled", {"enabled": True}),
    ("nor with a limit of 0", False, "enabled", {"enabled": True, LIMIT: 0, COUNT: 1}),
    ("a limit above all of a node", Fraction(1), "cpu_limit", {"enabled": True, LIMIT: 1.5}),
    ("Ebb's count where none was asked for", 4, "required_count", {"enabled": True, LIMIT: 0.75}),
    ("nor with a negative one", 4, "required_count", {"enabled": True, LIMIT: 0.75, COUNT: -1}),
)
def test_an_estafette_pool_is_never_widened(expected: object, field: str, pool: dict[str, Any]) -> None:
    assert getattr(policy(from_estafette(estafette(a=pool))).pools["a"], field) == expected


def test_the_timers_of_the_estafette_process_count() -> None:
    pool = policy(from_estafette(estafette(a=FULL), marked_seconds=600, age_seconds=0)).pools["a"]
    assert (pool.consolidate_after, pool.minimum_node_age) == (10 * MINUTE, timedelta(0))


@cases(
    "expected, convert, data",
    ("which of estafette's defaults", "estafette's own default, for it was not given; its Helm chart has 0",
     from_estafette, estafette(a=FULL)),
    ("which of node-refiner's defaults",
     "minimumNodes: 3  # minimum_nodes was not there: the default of node-refiner's code, 3", from_node_refiner,
     config_map({"time_gap": "5"})),
    ("what begins dry", "once the plans convince you; drainer_enabled was f", from_node_refiner,
     config_map({"drainer_enabled": "f"})),
    ("where v1 has the age", "expireAfter: 24h  # template.spec.expireAfter", from_karpenter,
     karpenter(node_pool(template={"expireAfter": "24h"}))),
    ("Karpenter's default", "consolidateAfter: 0s  # consolidateAfter was not there: Karpenter's default",
     from_karpenter, karpenter(node_pool())),
)  # fmt: skip
def test_a_comment_shows_where_a_value_came_from(
    expected: str, convert: Callable[[bytes], Imported], data: bytes
) -> None:
    assert expected in convert(data).document


@cases(
    "expected, convert, data",
    ("a field that estafette ignored", "nodePools.a.extra: estafette knows no such field", from_estafette,
     estafette(a={**FULL, "extra": 1})),
    ("nodes of no pool", "the pool without a name is left out", from_estafette, estafette(**{"": FULL})),
    ("what estafette had not", "memory: estafette looked at CPU alone", from_estafette, estafette()),
    ("a key that node-refiner ignored", "'other': node-refiner knows no such key", from_node_refiner,
     config_map({"time_gap": "5", "other": "x"})),
    ("that node-refiner knew no pools", "name the pools that Ebb may drain", from_node_refiner,
     config_map({"time_gap": "5"})),
    ("deletion by force", "terminationGracePeriod has no equivalent", from_karpenter,
     karpenter(node_pool(template={"terminationGracePeriod": "1h"}))),
    ("limits", "limits have no equivalent", from_karpenter, karpenter(node_pool(limits={"cpu": 1}))),
    ("weight", "weight has no equivalent", from_karpenter, karpenter(node_pool(weight=1))),
    ("a policy of its own", "Balanced has no equivalent", from_karpenter,
     karpenter(node_pool(disruption={"consolidationPolicy": "Balanced"}))),
    ("reasons that Ebb never has", "Ebb removes no node for drifted and unhealthy", from_karpenter,
     karpenter(node_pool())),
    ("limits that hold for the first time", "10% of a pool and of the cluster, and 20% an hour", from_node_refiner,
     config_map({"time_gap": "5"})),
    ("node-refiner's other objects", "objects 'Deployment'", from_node_refiner,
     listed({"data": {"time_gap": "5"}}, {"kind": "Deployment"})),
    ("those of estafette's chart", "objects 'ServiceAccount'", from_estafette,
     listed({"kind": "ServiceAccount"}, {"nodePools": {"a": FULL}})),
    ("other objects", "objects 'EC2NodeClass'", from_karpenter, karpenter(node_pool(), {"kind": "EC2NodeClass"})),
)  # fmt: skip
def test_a_note_shows_what_has_no_equivalent(expected: str, convert: Callable[[bytes], Imported], data: bytes) -> None:
    assert any(expected in note for note in convert(data).notes)


def test_a_node_refiner_keeps_its_settings() -> None:
    written = {
        "time_since_last_addition": "30", "time_gap": "5", "minimum_nodes": "4", "minimum_non_tainted_nodes": "1",
        "excess_nodes_threshold": "1.5", "drainer_enabled": "true",
    }  # fmt: skip
    found = policy(from_node_refiner(config_map(written), ["web"]))
    assert (found.time_since_last_addition, found.time_gap) == (30 * MINUTE, 5 * MINUTE)
    assert (found.minimum_nodes, found.minimum_non_tainted_nodes, found.dry_run) == (4, 1, True)
    assert (found.pools["web"].enabled, found.pools["web"].excess_threshold) == (True, Fraction(3, 2))


@pytest.mark.parametrize("word", ["T", "1", "FALSE"])
def test_a_policy_that_was_converted_begins_dry_whatever_the_drainer_was(word: str) -> None:
    assert policy(from_node_refiner(config_map({"drainer_enabled": word}))).dry_run is True


@pytest.mark.acceptance(79, 81)
@cases(
    "expected, pool",
    ("v1 with all its defaults", PoolPolicy(enabled=True, consolidate_after=timedelta(0), expire_after=30 * DAY),
     node_pool()),
    ("v1beta1 with all its defaults",
     PoolPolicy(enabled=True, consolidate_after=timedelta(seconds=15), expire_after=30 * DAY),
     node_pool(version="v1beta1")),
    ("v1beta1 with both timers", PoolPolicy(enabled=True, consolidate_after=None, expire_after=DAY),
     node_pool(version="v1beta1", disruption={"expireAfter": "24h", "consolidateAfter": "Never"})),
    ("v1 whose nodes do not expire", PoolPolicy(enabled=True, consolidate_after=timedelta(0), expire_after=None),
     node_pool(template={"expireAfter": "Never"})),
    ("budgets, one without nodes",
     PoolPolicy(enabled=True, consolidate_after=timedelta(0), expire_after=30 * DAY,
      budgets=(Budget(Limit(percent=10), Schedule("@daily", timedelta(hours=1))),
       Budget(Limit(count=0), reasons=frozenset({"empty"})))),
     node_pool(disruption={"budgets": [{"schedule": "@daily", "duration": "1h0m0s"},
        {"nodes": "0", "reasons": ["Empty"]}]})),
    ("an empty list of budgets",
     PoolPolicy(enabled=True, consolidate_after=timedelta(0), expire_after=30 * DAY, budgets=()),
     node_pool(disruption={"budgets": []})),
)  # fmt: skip
def test_a_node_pool_keeps_its_disruption(expected: PoolPolicy, pool: dict[str, Any]) -> None:
    assert policy(from_karpenter(karpenter(pool))).pools["a"] == expected


@pytest.mark.acceptance(74)
@cases(
    "budgets",
    ("neither schedule nor duration", [{"nodes": "10%"}]),
    ("both", [{"nodes": "5"}, {"nodes": "0", "schedule": "@daily", "duration": "8h"}]),
    ("none", []),
)
def test_the_budgets_of_a_node_pool_are_written_as_they_stood_and_read_as_they_stand(
    budgets: list[dict[str, str]],
) -> None:
    """No default is written into them. (The policy's object itself Ebb may only read: infra's rights say so.)"""
    made = from_karpenter(karpenter(node_pool(disruption={"budgets": budgets})))

    stored = yaml.safe_load(made.document)["nodePools"]["a"]["disruption"]["budgets"]
    assert [{key: str(value) for key, value in row.items()} for row in stored] == budgets
    assert [row.schedule is not None for row in policy(made).pools["a"].budgets] == [
        "schedule" in row for row in budgets
    ]


@cases(
    "data",
    ("several documents", karpenter(node_pool("a"), node_pool("b"))),
    ("a list", karpenter({"kind": "List", "items": [node_pool("a"), node_pool("b")]})),
    ("JSON", json.dumps({"kind": "NodePoolList", "items": [node_pool("a"), node_pool("b")]}).encode()),
)
def test_all_node_pools_of_a_file_are_converted(data: bytes) -> None:
    assert set(policy(from_karpenter(data)).pools) == {"a", "b"}


@cases(
    "expected, convert, data",
    ("a flag in quotes", "nodePools.a.enabled: it is not true or false", from_estafette,
     estafette(a={"enabled": "yes"})),
    ("a number in quotes", f"nodePools.a.{COUNT}: it is not a whole number", from_estafette, estafette(a={COUNT: "5"})),
    ("a flag for a number", f"nodePools.a.{LIMIT}: it is not a number", from_estafette, estafette(a={LIMIT: True})),
    ("a pool that is a list", "nodePools.a: it is no mapping", from_estafette, estafette(a=[])),
    ("pools that are a list", "nodePools: it is no mapping", from_estafette, b'{"nodePools": []}'),
    ("nothing of estafette's", "it holds no configurations of estafette", from_estafette, b"{}"),
    ("two configurations", "it holds 2 configurations of estafette", from_estafette,
     estafette() + b"\n---\n" + estafette()),
    ("a key that holds no text", f"data.{KEY}: it is no text", from_estafette, config_map({KEY: {"nodePools": {}}})),
    ("a key whose text is no mapping", f"data.{KEY}: it is empty or no mapping", from_estafette,
     config_map({KEY: "[]"})),
    ("an empty map", "it holds no configurations of node-refiner", from_node_refiner, config_map({})),
    ("negative minutes", "time_gap: value '-1' is wrong; write a whole number", from_node_refiner,
     config_map({"time_gap": "-1"})),
    ("a word that Go does not know", "drainer_enabled: value 'yes' is wrong; write true or false", from_node_refiner,
     config_map({"drainer_enabled": "yes"})),
    ("no NodePool", "it holds no NodePool", from_karpenter, b"kind: Pod"),
    ("an older kind", "a Provisioner is no NodePool", from_karpenter, b"kind: Provisioner"),
    ("an unknown version", "nodePools.a: its apiVersion is neither", from_karpenter,
     karpenter(node_pool(version="v2"))),
    ("twins", "nodePools.a: it stands twice", from_karpenter, karpenter(node_pool(), node_pool())),
    ("a pool without a name", "metadata.name is missing", from_karpenter, b"kind: NodePool"),
    ("a schedule that never comes", "nodePools.a.disruption.budgets[0].schedule: value '0 0 30 2 *' is wrong",
     from_karpenter, karpenter(node_pool(disruption={"budgets": [{"schedule": "0 0 30 2 *", "duration": "1h"}]}))),
    ("a field that Ebb does not know", "nodePools.a.disruption.later: there is no such field", from_karpenter,
     karpenter(node_pool(disruption={"later": 1}))),
    ("broken YAML", "file: line 1, column", from_karpenter, b"{a: "),
    ("no text", "file: byte 0 is not UTF-8", from_karpenter, b"\xff"),
)  # fmt: skip
def test_bad_input_is_a_sentence(expected: str, convert: Callable[[bytes], Imported], data: bytes) -> None:
    with pytest.raises(BadPolicy) as refused:
        convert(data)
    assert any(expected in fault for fault in refused.value.faults)


_words = st.sampled_from(
    ["nodePools", "enabled", LIMIT, COUNT, "data", KEY, "kind", "List", "NodePool", "ConfigMap", "items", "apiVersion",
     "karpenter.sh/v1", "metadata", "name", "spec", "disruption", "budgets", "nodes", "reasons", "schedule", "duration",
     "consolidateAfter", "template", "expireAfter", "time_gap", "minimum_nodes", "drainer_enabled", "10%", "5m", "true"]
)  # fmt: skip
_scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 10**12), st.floats(allow_nan=False, allow_infinity=False), _words,
    st.text(max_size=6),
)  # fmt: skip
_things = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_words | st.text(max_size=3), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip
_bytes = st.one_of(
    st.binary(max_size=60),
    st.text(max_size=60).map(str.encode),
    _things.map(lambda thing: json.dumps(thing).encode()),
    st.dictionaries(st.text(max_size=4), _things, max_size=3).map(lambda pools: estafette(**pools)),
    st.dictionaries(_words, _scalars, max_size=6).map(lambda data: json.dumps({"data": data}).encode()),
    st.builds(lambda name, spec: json.dumps({**node_pool(), "metadata": {"name": name}, "spec": spec}).encode(),
              st.text(max_size=4), st.dictionaries(_words, _things, max_size=4)),
    st.dictionaries(_words, _things, max_size=4).map(lambda block: json.dumps(node_pool(disruption=block)).encode()),
)  # fmt: skip


def outcome(convert: Callable[[bytes], Imported], data: bytes) -> Imported | tuple[str, ...]:
    try:
        return convert(data)
    except BadPolicy as refused:
        return refused.faults


@examples(400)
@given(st.sampled_from([from_estafette, from_node_refiner, from_karpenter]), _bytes)
def test_whatever_is_given_the_outcome_is_a_valid_policy_or_sentences(
    convert: Callable[[bytes], Imported], data: bytes
) -> None:
    found = outcome(convert, data)
    if isinstance(found, Imported):
        assert parse(found.document.encode())
    said = found.notes if isinstance(found, Imported) else found
    assert said
    assert all(sentence.endswith(".") and "\n" not in sentence for sentence in said)


@given(st.text(min_size=1, max_size=8))
def test_any_name_of_a_pool_survives(name: str) -> None:
    assert set(policy(from_karpenter(json.dumps(node_pool(name)).encode())).pools) == {name}
