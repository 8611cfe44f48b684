"""What `ebb plan` and `ebb explain` say of single replicas that leave without a gap."""

from dataclasses import replace
from typing import Any

from rich.text import Text

from functions.cli.analysis.explanation import Explainer
from functions.cli.explain.node_page import facts_of
from functions.cli.explain.pod_page import moving
from functions.cli.plan.sentences import surge_note
from functions.cli.plan.view import view_of
from shared.adapters.prices import load
from shared.core.cluster.workloads import Deployment, Workload
from shared.core.planning.make_plan import make_plan
from shared.core.policy import SingleReplicas
from shared.core.records.state import ClusterState, Mark, PoolMarks
from shared.core.rules.situation import Situation
from tests.builders import NOW, cluster, node, pod, policy

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
    (web,) = (each for each in given.snapshot.pods if each.name == "web")

    known, place = explainer.pod(web)

    assert moving(place).startswith(f"The pod leaves without a gap: {NAME} is restarted")
    facts: dict[str, str | Text] = dict(facts_of(view, view.node("n1"), known, None))
    assert str(facts["restarts"]).startswith(NAME)


def test_a_pod_that_cannot_surge_shows_why_it_stays() -> None:
    given = situation(SingleReplicas.SURGE, rolling_update=False)
    explainer = Explainer(given, make_plan(given, marked(), load()))
    (web,) = (each for each in given.snapshot.pods if each.name == "web")

    _, place = explainer.pod(web)

    assert place is not None
    assert (place.restarts, [each.reason.value for each in place.blockers]) == ("", ["surge_impossible"])
