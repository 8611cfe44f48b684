"""`ebb explain --output json` and yaml: keys that tools may rely on (docs/orders.md)."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from functions.cli.analysis.explanation import Explainer
from functions.cli.explain.as_json import explain_one
from functions.cli.explain.resolve import resolve_name
from functions.cli.plan.view import view_of
from shared.adapters.prices import load
from shared.core.planning.make_plan import make_plan
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.builders import cluster, node, pod, policy, resources
from tests.cli import dumps
from tests.cli.running import ebb, read_json
from tests.depth import cases


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dumps.write(tmp_path_factory.mktemp("explain") / "cluster.json", 24)


def _explained(dump: Path, word: str) -> dict[str, Any]:
    (found,) = read_json("explain", word, "--dump", dump)["explained"]
    return dict(found)


def test_a_pod_that_was_resized_asks_for_one_thing_here_and_another_elsewhere() -> None:
    snapshot = cluster([node("n1"), node("n2")], [pod("web", on="n1", cpu=1, booked=resources(cpu=2))])
    situation = Situation(snapshot, ClusterState(), policy())
    plan = make_plan(situation, {}, load())

    told = explain_one(view_of(plan), Explainer(situation, plan), resolve_name(situation, "default/web"))

    assert (told["requests"]["cpu_millis"], told["needs_elsewhere"]["cpu_millis"]) == (2000, 1000)


KEPT = {"to", "runner_up", "not_modelled", "blockers", "restarts"}
NODE = {
    *("kind", "name", "pool", "verdict", "reason", "blockers", "cost_per_hour", "cpu_ratio", "memory_ratio"),
    *("movable_cpu_ratio", "movable_memory_ratio", "accelerator_ratio", "score", "marked_since", "removable_at"),
    *("drain", "machine", "zone", "spot", "closed", "pods", "staying_pods", "refusal"),
    *("saves_per_hour", "covered_by", "saves_more_from", "removed_by"),
}
POD = {
    *("kind", "name", "node", "verdict", "reason", "workload", "requests", "stays_with_node", "budgets"),
    *("choice", "needs_elsewhere", "raised_by", "template_adds", *KEPT),
}


@cases(
    "expected, word",
    ("a node", NODE, "0007"),
    ("a pod", POD, "shop/db-7"),
    ("a pod that goes with its node", POD, "logs-003"),
    ("a workload", {"kind", "name", "keeps_alone", "pods"}, "shop/StatefulSet/db-5d4f8b"),
)
def test_every_key_is_always_there(expected: set[str], word: str, dump: Path) -> None:
    found = _explained(dump, word)
    assert found.keys() == expected
    assert all({"pod", *KEPT} <= pod.keys() for pod in found.get("pods", ()))


def test_a_pod_names_every_node_that_each_rule_excludes_and_those_that_are_open(dump: Path) -> None:
    choice = _explained(dump, "shop/db-7")["choice"]
    out = {name for excluded in choice["excluded"] for name in excluded["nodes"]}
    assert choice["nodes"] == len(choice["open"]) + len(out) == 23
    assert [excluded["rule"] for excluded in choice["excluded"]] == ["room"]
    assert all(set(excluded["alone"]) <= set(excluded["nodes"]) for excluded in choice["excluded"])


def test_a_blocker_comes_with_its_sentence_and_remedy(dump: Path) -> None:
    (blocker,) = _explained(dump, "shop/db-7")["blockers"]
    assert (blocker["reason"], blocker["object"]) == ("pdb_never_allows", "shop/db-7")
    assert blocker["sentence"].endswith(".")
    assert blocker["remedy"].endswith(".")


def test_a_workload_shows_which_nodes_it_alone_keeps(dump: Path) -> None:
    found = _explained(dump, "shop/StatefulSet/db-5d4f8b")
    assert found["keeps_alone"]["nodes"] == sorted({pod["node"] for pod in found["pods"]})


def test_yaml_shows_the_same(dump: Path) -> None:
    words = ("explain", "0007", "shop/db-7", "--dump", dump)
    assert yaml.safe_load(ebb(*words, "-o", "yaml").stdout) == read_json(*words)
