"""What stands below a plan: the autoscaler, nodes in no figures, restarts and scale-ins."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from rich.text import Text

from functions.cli.analysis.explanation import Explainer
from functions.cli.explain.pages import describe_move, node_facts
from functions.cli.plan.sentences import autoscaler_note, outside_note, steer_note, surge_note, wave_note
from functions.cli.plan.view import view_of
from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.autoscaling import AutoscalingPolicy, ComputeClasses
from shared.core.cluster.names import COMPUTE_CLASS_LABEL, MANAGED_NODE
from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.workloads import Deployment, Workload
from shared.core.planning.make_plan import make_plan
from shared.core.policy import SingleReplicas
from shared.core.records.state import ClusterState, Mark, PoolMarks
from shared.core.rules.situation import Situation
from tests.builders import NOW, cluster, node, pod, pod_class, policy, taint
from tests.cli import dumps
from tests.cli.running import run_ebb
from tests.depth import cases

CLASSES = ComputeClasses({"reaper": AutoscalingPolicy(threshold=Fraction(0)), "plain": AutoscalingPolicy()})


def of(pool: str, compute_class: str = "", name: str = "") -> Node:
    return node(name or f"n-{pool}", pool=pool, labels={COMPUTE_CLASS_LABEL: compute_class})


def picture(*nodes: Node, profile: str = "BALANCED", **pools: NodePool) -> Snapshot:
    return cluster(nodes, profile=profile, compute_classes=CLASSES, pools=pools)


@cases(
    "expected, snapshot",
    ("it reaps everywhere", [("only deletes empty nodes (",)], picture(of("a", "reaper"), of("b", "reaper"))),
    ("in one pool of three", [("only deletes empty nodes of pool a (",), ("nodes of pools b, c ", "50%", "competes")],
     picture(of("a", "reaper"), of("b", "plain"), of("c"))),
    ("it competes everywhere", [("itself empties nodes that", "50%", "competes")], picture(of("a"))),
    ("it packs by itself", [("itself empties nodes that", "85%", "leaves")],
     picture(of("a"), profile="OPTIMIZE_UTILIZATION")),
    ("a pool of two classes is one", [("itself empties nodes that", "50%", "competes")],
     picture(of("a", "reaper", "n1"), of("a", "plain", "n2"))),
    ("nothing is known", [("ComputeClass gone", "add computeclasses")], picture(of("b", "gone"))),
    ("the other pool is reaped", [("only deletes empty nodes of pool a (",), ("of pool b is unknown",)],
     picture(of("a", "reaper"), of("b", "gone"))),
    ("it competes in the other pool", [("nodes of pool a ", "competes"), ("of pool b is unknown",)],
     picture(of("a"), of("b", "gone"))),
)  # fmt: skip
def test_each_line_shows_what_the_autoscaler_does_next_to_ebb(
    expected: list[tuple[str, ...]], snapshot: Snapshot
) -> None:
    for facts, line in zip(expected, autoscaler_note(snapshot, in_dump=True), strict=True):
        assert [fact for fact in facts if fact not in line] == []


@cases(
    "snapshot",
    ("an empty cluster", picture()),
    ("no GKE: nodes of no pool", picture(of("", name="n"))),
    ("no autoscaler", picture(of("a"), a=NodePool("a", autoscaled=False))),
    ("nodes that Google manages", picture(node("m", labels={MANAGED_NODE: "true"}))),
)
def test_nothing_is_shown_where_the_autoscaler_takes_nothing(snapshot: Snapshot) -> None:
    assert list(autoscaler_note(snapshot, in_dump=True)) == []


def test_a_live_cluster_has_another_remedy() -> None:
    (said,) = autoscaler_note(picture(of("b", "gone")), in_dump=False)
    assert said.endswith("let this account list computeclasses.")


STANDBY: dict[str, Any] = {"labels": {names.STANDBY_NODE: "true"}}
MANAGED: dict[str, Any] = {"labels": {names.MANAGED_NODE: "true"}}
VIRTUAL: dict[str, Any] = {"taints": (taint(names.VIRTUAL_TAINT),)}


@cases(
    "expected, nodes",
    ("nothing where all count", "", [{}]),
    ("those that stand by", "1 node standing by for a capacity buffer", [{}, STANDBY]),
    ("those that Google manages", "2 nodes managed by Google", [MANAGED, MANAGED]),
    ("both", "1 node standing by for a capacity buffer, 1 node managed by Google", [STANDBY, MANAGED, {}]),
    ("those without a machine", "1 node of a virtual kubelet", [VIRTUAL, {}]),
)
def test_nodes_that_count_nowhere_are_shown(expected: str, nodes: list[dict[str, Any]]) -> None:
    said = outside_note(cluster([node(f"n{place}", **own) for place, own in enumerate(nodes)]))
    end = " (docs/decisions/neighbours.md)."
    assert "".join(said) == (
        f"Nodes in no pool's figures, and without a cost here: {expected}{end}" if expected else ""
    )


WEB = pod_class(owner="ReplicaSet/web", cpu=1)
FIRST = "steerScaleIn: a scale-in takes 1 pod on 1 node (n2) first, by the deletion cost that Ebb writes."
NOTHING = "steerScaleIn: on no node that goes next is a pod that a scale-in could take before others."
DB = pod_class(owner="StatefulSet/db", cpu=1)


@cases(
    "expected, kind, settings",
    ("off", [], WEB, {}),
    ("on: n1 goes in this pass", [FIRST], WEB, {"steer_scale_in": True}),
    ("on, and nothing to rank", [NOTHING], DB, {"steer_scale_in": True}),
    ("on, and nothing is to go", [], WEB, {"steer_scale_in": True, "enabled": False}),
)
def test_what_a_scale_in_would_take_first_is_shown(expected: list[str], kind: Any, settings: dict[str, Any]) -> None:
    pods = [pod(f"w{index}", on=f"n{index}", kind=kind) for index in (1, 2, 3)]
    seen = cluster([node(f"n{index}") for index in (1, 2, 3)], pods)
    given = Situation(seen, ClusterState(), policy(**settings))
    assert list(steer_note(given, make_plan(given, {}, load()))) == expected


NAME = "default/Deployment/web"
AT_REST = Deployment(name=NAME, created=1, updated=1, available=1)


def situation(setting: SingleReplicas, **changes: Any) -> Situation:
    """One node that may go, with the only pod of a Deployment."""
    workload = Workload(NAME, 1, 1, created=1, deployment=replace(AT_REST, **changes))
    pods = [pod("web", on="n1"), pod("big", on="n2", cpu=3.5, owner="ReplicaSet/big")]
    snapshot = cluster([node("n1"), node("n2")], pods, workloads={"default/ReplicaSet/web": workload})
    return Situation(snapshot, ClusterState(), policy(single_replicas=setting))


def marked() -> dict[str, PoolMarks]:
    return {"a": PoolMarks(marks={"uid-n1": Mark("n1", NOW)})}


def notes(given: Situation) -> list[str]:
    return list(surge_note(given, make_plan(given, marked(), load())))


def test_a_plan_names_what_it_would_restart() -> None:
    (note,) = notes(situation(SingleReplicas.SURGE))

    assert note.startswith(f"This pass would restart 1 Deployment ({NAME})")


def test_a_plan_that_restarts_nothing_shows_nothing_of_it() -> None:
    assert notes(situation(SingleReplicas.MOVE)) == []


def test_a_pods_page_and_its_nodes_show_how_it_leaves() -> None:
    given = situation(SingleReplicas.SURGE)
    plan = make_plan(given, marked(), load())
    explainer, view = Explainer(given, plan), view_of(plan)
    (web,) = (pod for pod in given.snapshot.pods if pod.name == "web")

    known, place = explainer.pod(web)

    assert describe_move(place).startswith(f"The pod leaves without a gap: {NAME} is restarted")
    facts: dict[str, str | Text] = dict(node_facts(view, view.node("n1"), known))
    assert str(facts["restarts"]).startswith(NAME)


def test_a_pod_that_cannot_surge_shows_why_it_stays() -> None:
    given = situation(SingleReplicas.SURGE, rolling_update=False)
    explainer = Explainer(given, make_plan(given, marked(), load()))
    (web,) = (pod for pod in given.snapshot.pods if pod.name == "web")

    _, place = explainer.pod(web)

    assert place is not None
    assert (place.restarts, [blocker.reason.value for blocker in place.blockers]) == ("", ["surge_impossible"])


Object = dict[str, Any]


def unbound(thing: Object) -> Object:
    said = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": dumps.NEWEST}
    spec = {key: value for key, value in thing["spec"].items() if key != "nodeName"}
    return {**thing, "spec": spec, "status": {"phase": "Pending", "conditions": [said]}}


def with_pending(path: Path, pods: int) -> Path:
    """Write a dump of 20 nodes in which so many of its web pods have no node."""
    objects = list(dumps.items(20, cpu="400m"))
    web = [thing for thing in objects if thing["kind"] == "Pod" and thing["metadata"]["labels"]["app"] == "web"]
    chosen = [thing["metadata"]["uid"] for thing in web[:: len(web) // pods][:pods]]
    return dumps.write_items(
        path, [unbound(thing) if thing["metadata"].get("uid") in chosen else thing for thing in objects]
    )


@pytest.mark.parametrize(
    "words", [("plan",), ("plan", "-o", "markdown"), ("explain", "0001"), ("why-not",)], ids=" ".join
)
def test_an_answer_shows_how_many_pods_are_pending_and_names_some(words: tuple[str, ...], tmp_path: Path) -> None:
    shown = run_ebb(*words, "--dump", with_pending(tmp_path / "dump.json", 13)).stdout
    (said,) = [line for line in shown.splitlines() if "13 pods pending" in line]
    assert "shop/web-5d4f8b-0000" in said
    assert "10 more" in said


@cases("has_no_place, cpu", ("no place", True, "90"), ("a place", False, "100m"))
def test_one_pending_pod_is_one_warning(has_no_place: bool, cpu: str, tmp_path: Path) -> None:
    pod = unbound(dumps.pod("lone", "", cpu=cpu))
    shown = run_ebb("plan", "--dump", dumps.write_items(tmp_path / "dump.json", [*dumps.items(4), pod])).stdout
    (said,) = [line for line in shown.splitlines() if "shop/lone" in line]
    assert ("No place is left" in said) is has_no_place
    assert ("includes the room" in said) is not has_no_place


def test_of_several_those_without_a_place_are_named_in_the_same_warning(tmp_path: Path) -> None:
    pods = [unbound(dumps.pod(name, "", cpu=cpu)) for name, cpu in (("huge", "90"), ("tiny", "100m"))]
    shown = run_ebb("plan", "--dump", dumps.write_items(tmp_path / "dump.json", [*dumps.items(4), *pods])).stdout
    (said,) = [line for line in shown.splitlines() if "shop/tiny" in line]
    assert "2 pods pending (shop/huge, shop/tiny). No place is left for 1 pod (shop/huge)" in said


@cases("expected, machine", ("it costs more", ["n1"], "n2-standard-4"), ("all cost the same", [], "e2-standard-4"))
def test_the_note_names_the_nodes_that_pods_avoid(expected: list[str], machine: str) -> None:
    picture_of_two = cluster([node("n0"), node("n1", machine=machine)])
    made = make_plan(Situation(picture_of_two, ClusterState(), policy()), {}, load())

    assert [name for text in wave_note(made) for name in ("n0", "n1") if name in text] == expected
