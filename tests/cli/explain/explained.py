"""Explanations by hand with short defaults, for what only shows them."""

from typing import Any

from rich.console import Console

from functions.cli.analysis.exclusions import Landing, NodeChoice
from functions.cli.analysis.explanation import Explainer, NodeExplanation, PodPlace
from functions.cli.explain.as_json import document, explain_one
from functions.cli.explain.pages import NodeNamer, node_page
from functions.cli.explain.resolve import resolve_name
from functions.cli.output.answers import show
from functions.cli.plan.view import PlanView, view_of
from shared.adapters.prices import load
from shared.core.cluster.workloads import UNKNOWN
from shared.core.planning.make_plan import make_plan
from shared.core.planning.plan import NodeDecision
from shared.core.reasons import Blocker, PodBlock
from shared.core.records.state import ClusterState
from shared.core.rules.drain_time import DrainTime
from shared.core.rules.situation import Situation
from tests.builders import cluster, node, pdb, pod, policy


def explanation(decision: NodeDecision, **known: Any) -> NodeExplanation:
    given: dict[str, Any] = {
        "node": node(decision.name, pool=decision.pool),
        "pods": (),
        "staying": 0,
        "refusal": "",
        "takes": decision.drain or DrainTime(),
        "closed": (),
        **known,
    }
    return NodeExplanation(decision=decision, **given)


def place(
    key: str, target: str = "", runner_up: str = "", *blocks: PodBlock, choice: NodeChoice | None = None, **spec: Any
) -> PodPlace:
    namespace, name = key.split("/")
    landing = Landing(pod(name, on="n1", namespace=namespace, **spec), target, runner_up, choice or NodeChoice(0, 0))
    return PodPlace(landing, tuple(Blocker(block, key) for block in blocks), (), UNKNOWN)


def show_node(console: Console, view: PlanView, known: NodeExplanation) -> None:
    namer = NodeNamer({shown.name: shown.decision.pool for shown in view.nodes}, cut=console.is_terminal)
    show(console, node_page(view, known, namer, console.width))


def paused_situation(name: str = "web-0") -> Situation:
    """A node that a shut budget keeps, with the pod of that name and one of a DaemonSet; a free node, a full one."""
    nodes = [node(word, cpu=4, memory=16) for word in ("n1", "n2", "n3")]
    pods = [
        pod(name, on="n1", owner="ReplicaSet/web", cpu=1),
        pod("big", on="n3", owner="ReplicaSet/big", cpu=3.5),
        pod("log-x1", on="n1", owner="DaemonSet/log"),
    ]
    snapshot = cluster(nodes, pods, disruption_budgets=(pdb("web", allowed=0),))
    return Situation(snapshot, ClusterState(), policy(cluster_wide={"paused": True}))


def everything_explained() -> dict[str, Any]:
    """A document with every key: a node, a pod and a workload, and under each what there can be."""
    situation = paused_situation()
    shown = make_plan(situation, {}, load())
    explainer = Explainer(situation, shown)
    what = (resolve_name(situation, word) for word in ("n1", "default/web-0", "default/ReplicaSet/web"))
    return document(view_of(shown), [explain_one(view_of(shown), explainer, one) for one in what])
