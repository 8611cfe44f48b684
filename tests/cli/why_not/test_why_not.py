"""`ebb why-not` from a dump to the page; and how each change would be made."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from functions.cli.analysis.exclusions import Exclusion
from functions.cli.analysis.forecast.steady_state import find_steady_state
from functions.cli.analysis.forecast.what_if import Freed, Held, WhyNot
from functions.cli.analysis.relaxations import RELAXATIONS, Harm, Relaxation, Scope
from functions.cli.explain.why_not import AT_LEAST, document, parts
from functions.cli.output.answers import last_notes, show, write_markdown
from shared.adapters.prices import load
from shared.core.policy.values import Capacity, Commitment, Commitments
from shared.core.reasons import PodBlock, Reason, Unremovable
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.builders import cluster, node, pod, policy
from tests.cli import dumps
from tests.cli.plan.plans import DOLLAR
from tests.cli.running import ebb, on_terminal, read_json
from tests.depth import cases


@pytest.mark.parametrize("reason", [reason for reason, row in RELAXATIONS.items() if row.harm is Harm.NONE])
def test_a_harmless_change_deletes_nothing(reason: Reason) -> None:
    text = Relaxation(reason, "shop/Deployment/cart", "key").remedy
    assert not [word for word in ("null", "delete", "singleReplicas", "longGrace", "jobs:") if word in text]


@pytest.mark.parametrize("reason", [reason for reason, row in RELAXATIONS.items() if row.scope is Scope.BUDGET])
def test_each_budget_has_a_command_and_its_harm(reason: Reason) -> None:
    assert Relaxation(reason, "shop/db").remedy.startswith("kubectl -n shop ")
    assert RELAXATIONS[reason].harm


KEEPS = (Unremovable.CORDONED_BY_OTHER, Unremovable.MINIMUM_NODES, Unremovable.MINIMUM_NON_TAINTED)


@pytest.mark.parametrize("reason", KEEPS)
def test_a_cordon_and_a_minimum_of_the_policy_are_protections(reason: Reason) -> None:
    assert RELAXATIONS[reason].harm is Harm.WEAKENS


def test_gcloud_takes_a_minimum_of_the_cluster_only_with_the_maximums() -> None:
    text = Relaxation(Unremovable.RESOURCE_MINIMUM).remedy
    assert all(flag in text for flag in ("--location", "--enable-autoprovisioning", "--max-cpu", "--max-memory"))


@pytest.mark.parametrize("reason", RELAXATIONS)
def test_nothing_of_a_command_is_left_open(reason: Reason) -> None:
    assert "$" not in Relaxation(reason, "shop/Deployment/cart", "key").remedy


OF_TEMPLATE = '\'{"spec":{"template":{"metadata":{"annotations":'
NO_ANNOTATION = '{"cluster-autoscaler.kubernetes.io/safe-to-evict":null}}}}}\''


@cases(
    "expected, relaxation",
    ("an annotation", f"kubectl -n shop patch deployment cart --type merge -p {OF_TEMPLATE}{NO_ANNOTATION}",
     Relaxation(PodBlock.NOT_SAFE_TO_EVICT, "shop/Deployment/cart")),
    ("a Job, whose template is fixed", f"in the pod template from which shop/Job/nightly is made: {OF_TEMPLATE}",
     Relaxation(PodBlock.NOT_SAFE_TO_EVICT, "shop/Job/nightly")),
    ("a setting", "policy: nodePools: {web: {jobs: move}}", Relaxation(PodBlock.JOB, "web")),
    ("a node", "kubectl uncordon n1", Relaxation(Unremovable.CORDONED_BY_OTHER, "n1")),
    ("a budget", "kubectl -n shop delete pdb db", Relaxation(PodBlock.SEVERAL_PDBS, "shop/db")),
    ("a taint", "policy: nodePools: {web: {ignoreTaints: [mine]}}", Relaxation(Unremovable.TAINTED, "web", "mine")),
)  # fmt: skip
def test_a_change_is_made_by(expected: str, relaxation: Relaxation) -> None:
    assert relaxation.remedy.startswith(expected)


BASE = find_steady_state(
    Situation(cluster([node("n1"), node("n2")], [pod("p", on="n1", cpu=2)]), ClusterState(), policy()), {}, load()
)


def test_of_a_replica_set_alone_it_is_shown_that_only_new_pods_get_it() -> None:
    assert Relaxation(PodBlock.LOCAL_STORAGE, "shop/ReplicaSet/old").remedy.endswith(
        "# for pods that it makes from then on"
    )


def _deployed() -> dict[str, list[dict[str, Any]]]:
    """Six nodes, on each a pod of one Deployment that may not be evicted, and its agent."""
    names, hashed = [dumps.name_of(number) for number in range(6)], {"app": "web", "pod-template-hash": "5d4f8b"}
    pods = [dumps.pod(f"web-{number}", on) for number, on in enumerate(names)]
    for web in pods:
        own = {"labels": hashed, "annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}}
        web["metadata"] |= own
    agents = [dumps.pod(f"agent-{on}", on, kind="DaemonSet", namespace="kube-system", cpu="10m") for on in names]
    made = {"namespace": "shop", "creationTimestamp": dumps.NEWEST, "generation": 1}
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "d", "controller": True}
    rest = {"apiVersion": "apps/v1", "spec": {"replicas": 6}, "status": {"observedGeneration": 1, "replicas": 6,
            "readyReplicas": 6, "availableReplicas": 6, "updatedReplicas": 6}}  # fmt: skip
    return {
        "nodes": [dumps.node(number) for number in range(6)],
        "pods": [*pods, *agents],
        "replicasets": [
            {**rest, "kind": "ReplicaSet", "metadata": {**made, "name": "web-5d4f8b", "ownerReferences": [owner]}}
        ],
        "deployments": [{**rest, "kind": "Deployment", "metadata": {**made, "name": "web"}}],
    }


@pytest.mark.parametrize("lists", [("nodes", "pods"), ("nodes", "pods", "replicasets", "deployments")])
def test_of_a_pod_of_a_deployment_the_deployment_is_named(tmp_path: Path, lists: tuple[str, ...]) -> None:
    """Also where the dump holds no ReplicaSets: what is patched there comes back at the next rollout."""
    dump = dumps.write_items(tmp_path / "c.json", (item for name in lists for item in _deployed()[name]))
    changes = read_json("why-not", "--dump", dump)["changes"]
    told = next(change for change in changes if change["reason"] == "not_safe_to_evict")
    assert told["object"] == "shop/Deployment/web"
    assert told["how"].startswith("kubectl -n shop patch deployment web --type merge -p ")


FOUND = WhyNot(
    base=BASE,
    freed=(
        Freed(Held(Relaxation(PodBlock.PDB_NEVER_ALLOWS, "shop/db"), ("n1", "n2"), DOLLAR), 2, DOLLAR // 2, BASE.rest),
        Freed(Held(Relaxation(Exclusion.SPREAD, "shop/Deployment/cart"), ("n3",), DOLLAR), 0, 0, BASE.rest),
    ),
    hopeless=(Held(Relaxation(Unremovable.TAINTED, "a", "mine"), ("n5",), DOLLAR),),
    left=(Held(Relaxation(Unremovable.CORDONED_BY_OTHER, "n9"), ("n9",), DOLLAR // 10),),
    passing=(Held(Relaxation(PodBlock.JOB_RUNNING, "a"), ("n7",), DOLLAR // 5),),
)


def _shown(width: int = 120, found: WhyNot = FOUND) -> str:
    return "\n".join(on_terminal(lambda console: show(console, parts(found, "this policy")), width))


@cases(
    "facts",
    ("what there is, and what is left", ("2 nodes for $196", "this policy", "1 node for $98")),
    ("what a change saves", ("       $365      2  PDB allows 1: shop/db",)),
    ("how it is made", (FOUND.freed[0].relaxation.remedy.split("  #")[0],)),
    ("what it needs", ("second replica",)),
    ("what frees nothing", ("1 change would", "spread shop/Deployment/cart")),
    ("what the bound excludes", ("1 change cannot", "tainted a mine.")),
    ("what was not tried", ("2 changes not evaluated", "$219", "running Jobs may move: a", "cordoned_by_other")),
    ("how more are tried", ("--top N",)),
)
def test_the_page_shows(facts: tuple[str, ...]) -> None:
    assert [line for line in _shown(200).splitlines() if all(fact in line for fact in facts)]


def test_what_was_not_followed_to_the_end_frees_at_least_so_much() -> None:
    cut_short = replace(FOUND.freed[0], rest=replace(BASE.rest, is_rest=False))
    shown = _shown(found=replace(FOUND, freed=(cut_short,)))
    assert "   $365+      2  PDB allows 1: shop/db" in shown
    assert AT_LEAST in shown
    assert AT_LEAST not in _shown()


def test_tools_get_every_key() -> None:
    told = document(FOUND, "c")
    assert told["at_rest"] == {
        "nodes": 1, "saving_per_hour": 0.134, "nodes_left": 1, "cost_per_month": 97.83,
            "bill_per_hour": None,
            "by": "2026-03-04T22:11:30Z", "is_rest": True,
    }  # fmt: skip
    assert [held["reason"] for held in told["hopeless"]] == ["tainted"]
    assert [held["reason"] for held in told["passing"]] == ["job_running"]
    assert told["changes"][0] == {
        "reason": "pdb_never_allows", "object": "shop/db", "detail": None, "nodes": ["n1", "n2"], "holds_per_hour": 1.0,
        "frees_nodes": 2, "frees_per_hour": 0.5, "harm": "replica", "is_rest": True,
        "how": FOUND.freed[0].relaxation.remedy,
    }  # fmt: skip
    assert told["not_tried"] == [
        {"reason": "cordoned_by_other", "object": "n9", "detail": None, "nodes": ["n9"], "holds_per_hour": 0.1}
    ]


@pytest.mark.parametrize("width", [80, 120, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(map(len, _shown(width).splitlines())) <= width


def test_json_goes_to_stdout_and_prices_are_those_that_were_asked_for(tmp_path: Path) -> None:
    dump = dumps.write(tmp_path / "c.json", 8)

    def told(*more: str) -> float:
        changes = read_json("why-not", dump, "--top", "1", *more)["changes"]
        return float(sum(change["holds_per_hour"] for change in changes))

    assert told("--discount", "50%") == pytest.approx(told() / 2, abs=0.001)


def test_what_was_not_tried_is_not_judged() -> None:
    """Only what all of them together may save at most is known."""
    kept = replace(FOUND, passing=(Held(Relaxation(PodBlock.JOB_RUNNING, "a"), ("n1", "n2"), DOLLAR // 5),))
    (line,) = [line for line in _shown(400, kept).splitlines() if "not evaluated" in line]
    assert not [
        word for decision in BASE.decisions for word in (decision.reason, "all the same") if word and word in line
    ]


@cases(
    "expected",
    ("a title", "# Title\n"),
    ("what is left", "2 nodes for $196 a month now. With Ebb, this policy: 1 node for $98"),
    ("a table", "| saves/month | nodes | change | meaning | harm | how |\n| --: | --: | --- |"),
    ("what a change saves", "| $365 | 2 | PDB allows 1: shop/db |"),
    ("what frees nothing", "1 change would free nothing alone: without spread"),
    ("what it rests on", "\n\n> Without a policy&#42;."),
)
def test_markdown_shows(expected: str) -> None:
    shown = write_markdown(lambda _: (parts(FOUND, "this policy"), last_notes(["Without a policy*."])), "Title")
    assert expected in shown


def test_markdown_is_printed_where_it_is_asked_for(tmp_path: Path) -> None:
    shown = ebb("why-not", dumps.write(tmp_path / "c.json", 8), "--top", "1", "-o", "markdown")
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert shown.stdout.startswith("# What single changes would save: c.json\n\n8 nodes for $")


def test_where_capacity_is_committed_the_steady_state_has_its_bill_and_its_list_price() -> None:
    """One of two equal nodes goes, and a half of one is committed for nothing."""
    size = Capacity(Fraction(2), Fraction(8))
    rules = replace(BASE.situation.policy, commitments=Commitments((Commitment("e2", size, discount=Fraction(1)),)))
    billed = replace(BASE, situation=replace(BASE.situation, policy=rules))
    told = document(replace(FOUND, base=billed), "c")["at_rest"]

    assert told["bill_per_hour"] == pytest.approx(told["cost_per_month"] / 730 / 2, abs=1e-4)
    shown = _shown(200, replace(FOUND, base=billed))
    assert "2 nodes for $147 a month now ($196 at list prices)" in shown
    assert "1 node for $49 ($98 at list prices)" in shown
    assert "Savings on the bill" in shown
