"""Who keeps nodes: each node counts once, under the first thing that keeps it, and the rows add up to the plan."""

import csv
import io
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from functions.cli.analysis.blocked import NAMESPACE, NOBODY, WORKLOAD, BlockedBy, blocked_nodes
from functions.cli.plan.tables import csv_text
from shared.adapters.prices import load
from shared.core.cluster.names import SAFE_TO_EVICT
from shared.core.planning.make_plan import make_plan
from shared.core.planning.plan import Verdict
from shared.core.policy import Policy, PoolPolicy
from shared.core.policy.values import NamespaceRate
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.builders import cluster, node, pod, pod_class, policy
from tests.cli import dumps
from tests.cli.running import read_json, run_ebb
from tests.depth import cases


def blocked(*things: Any, by: str = NAMESPACE, enabled: bool = True, rules: Policy | None = None) -> BlockedBy:
    nodes = [node(name) for name in ("n1", "n2", "n3")]
    snapshot = cluster(nodes, things)
    rules = Policy(dry_run=False, pools={"a": PoolPolicy(enabled=enabled)}) if rules is None else rules
    plan = make_plan(Situation(snapshot, ClusterState(), rules), {}, load())
    found = blocked_nodes(plan, snapshot, by)
    assert found.nodes == sum(row.verdict in {Verdict.KEEP, Verdict.WAITING} for row in plan.decisions)
    assert found.cost == sum(row.cost for row in plan.decisions if row.verdict in {Verdict.KEEP, Verdict.WAITING})
    return found


def held(name: str, on: str, namespace: str, **labels: str) -> Any:
    kind = pod_class(namespace=namespace, owner="ReplicaSet/r", annotations={SAFE_TO_EVICT: "false"}, labels=labels)
    return pod(name, on=on, kind=kind)


def rows(found: BlockedBy) -> dict[tuple[str, str], tuple[int, int]]:
    return {(row.owner, row.reason): (row.nodes, row.also) for row in found.rows}


def test_a_node_that_two_namespaces_keep_counts_with_one_and_is_named_by_the_other() -> None:
    found = rows(blocked(held("a", "n1", "shop"), held("b", "n1", "pay"), held("c", "n2", "pay")))
    assert sorted(found[owner, "not_safe_to_evict"] for owner in ("shop", "pay")) in (
        [(0, 1), (2, 0)],
        [(1, 0), (1, 1)],
    )


@cases(
    "owner, by",
    ("a namespace", "shop", NAMESPACE),
    ("a workload", "shop/ReplicaSet/r", WORKLOAD),
    ("a label", "cart", "team"),
    ("a label that the pod does not have", NOBODY, "squad"),
)
def test_an_owner_is_what_was_asked_for(owner: str, by: str) -> None:
    found = rows(blocked(held("a", "n1", "shop", team="cart"), by=by))
    assert found[owner, "not_safe_to_evict"] == (1, 0)


def test_what_is_about_no_pod_is_nobodys() -> None:
    assert rows(blocked(enabled=False)) == {(NOBODY, "pool_disabled"): (3, 0)}


def test_a_limit_of_a_namespace_is_that_namespaces() -> None:
    few = policy(cluster_wide={"evictions_per_namespace": NamespaceRate(1, timedelta(hours=1))})
    pods = [pod(name, on="n1", kind=pod_class(namespace="shop", owner="ReplicaSet/r")) for name in ("a", "b")]
    assert rows(blocked(*pods, rules=few))["shop", "namespace_rate"] == (1, 0)


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    mine = dumps.pod("mine", dumps.name_of(0), app="<b>=1")
    mine["metadata"]["annotations"] = {SAFE_TO_EVICT: "false"}
    return dumps.write_items(tmp_path_factory.mktemp("dump") / "c.json", [*dumps.items(4), mine])


def test_a_spreadsheet_has_the_rows_of_the_json(dump: Path) -> None:
    told = list(csv.DictReader(io.StringIO(run_ebb("plan", dump, "--no-forecast", "-o", "csv").stdout)))
    found = read_json("plan", dump, "--no-forecast")["kept_by"]
    assert [(row["owner"], row["reason"], int(row["nodes"])) for row in told] == [
        (row["owner"] or "", row["reason"], row["nodes"]) for row in found["rows"]
    ]
    assert (found["by"], found["nodes"]) == ("namespace", sum(int(row["nodes"]) for row in told))


def test_no_cell_of_a_spreadsheet_is_a_formula() -> None:
    """No name of Kubernetes begins so, but whoever wrote the dump may have put it there."""
    names = ("=1+1", "+1", "-1", "@sum", "\t=1", "a=1", 'a,"b"\nc')
    shown = csv.reader(io.StringIO(csv_text(("name", "number"), [(name, -1.5) for name in names])))
    assert [tuple(row) for row in shown][1:] == [
        (name if name.startswith("a") else f"'{name}", "-1.5") for name in names
    ]


def test_a_spreadsheet_without_rows_comes_with_the_reason(tmp_path: Path) -> None:
    path = dumps.write_items(tmp_path / "c.json", [dumps.node(0), dumps.pod("a", dumps.name_of(0))])
    done = run_ebb("plan", path, "-o", "csv")
    assert len(done.stdout.splitlines()) == 1
    assert "every figure is partial" in done.stderr


def test_a_pod_without_the_label_is_not_called_no_pod(dump: Path) -> None:
    shown = run_ebb("plan", dump, "--no-forecast", "--by", "team").stdout
    assert "(no team)" in shown
    assert "(no pod)" not in shown


@pytest.mark.parametrize("command", ["plan", "why-not"])
@pytest.mark.parametrize("output", ["table", "markdown"])
def test_people_are_shown_owners_only_if_they_ask(command: str, output: str, dump: Path) -> None:
    fast = ("--no-forecast",) if command == "plan" else ()
    asked = run_ebb(command, "--dump", dump, "--by", "app", "-o", output, *fast).stdout
    assert "Who keeps nodes, by app" in asked
    assert "Who keeps nodes" not in run_ebb(command, "--dump", dump, "-o", output, *fast).stdout
    if output == "markdown":
        assert "<b>" not in asked


@pytest.mark.parametrize(("by", "words"), [("namespace", ()), ("app", ("--by", "app"))])
def test_the_report_has_a_section_with_markup_escaped(by: str, words: tuple[str, ...], dump: Path) -> None:
    page = run_ebb("report", "--dump", dump, "--out", "-", *words).stdout
    assert f"Who keeps nodes, by {by}" in page
    assert "<b>=1" not in page.partition('<script type="application/json"')[0]
