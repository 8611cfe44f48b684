"""Explanations by hand with short defaults, for what only shows them."""

from typing import Any

from shared.core.cluster.workloads import UNKNOWN
from shared.core.placement.exclusions import NodeChoice
from shared.core.placement.landing import Landing
from shared.core.planning.explanation import NodeExplanation, PodPlace
from shared.core.planning.plan import NodeDecision
from shared.core.reasons import Blocker, PodBlock
from shared.core.rules.drain_time import DrainTime
from tests.builders import node, pod


def explanation(decision: NodeDecision, **known: Any) -> NodeExplanation:
    given: dict[str, Any] = {
        "node": node(decision.name, pool=decision.pool),
        "pods": (),
        "staying": 0,
        "refusal": "",
        "takes": decision.drain or DrainTime(),
        "closed": (),
        "ripe": decision.removable_at,
        **known,
    }
    return NodeExplanation(decision=decision, **given)


def place(
    key: str, target: str = "", runner_up: str = "", *blocks: PodBlock, choice: NodeChoice | None = None
) -> PodPlace:
    namespace, name = key.split("/")
    landing = Landing(pod(name, on="n1", namespace=namespace), target, runner_up, choice or NodeChoice(0, 0))
    return PodPlace(landing, tuple(Blocker(each, key) for each in blocks), (), UNKNOWN)
