"""Which pods forbid the cluster autoscaler to empty their node: its own rules, in its order.

They are not the rules of Ebb's drains (`rules.pods`): the autoscaler asks no policy, and moves what Ebb would leave.
Source: cluster-autoscaler pkg/simulator/drainability/rules, with GKE's flag that local storage does not matter.
"""

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Final

from shared.core.cluster import names
from shared.core.cluster.pod import Pod
from shared.core.rules.drain_context import DrainContext
from shared.core.rules.pod_rules import REPLICATED

SYSTEM_POD_BLOCKS_FOR: Final = timedelta(hours=1)

_Rule = Callable[[Pod, DrainContext], bool | None]
"""True: it may go whatever later rules say; False: it may not; None: not this rule's to say."""


def _said(pod: Pod, _: DrainContext) -> bool | None:
    return {"true": True, "on-completion": False}.get(pod.spec.annotations.get(names.SAFE_TO_EVICT, ""))


def _not_replicated(pod: Pod, _: DrainContext) -> bool | None:
    owner = pod.spec.owner
    return None if owner is not None and owner.kind in REPLICATED else False


def _system(pod: Pod, context: DrainContext) -> bool | None:
    if pod.spec.namespace != names.KUBE_SYSTEM or context.budgets_of(pod.spec):
        return None
    return pod.created is None or context.now - pod.created >= SYSTEM_POD_BLOCKS_FOR


def _not_safe(pod: Pod, _: DrainContext) -> bool | None:
    return False if pod.spec.annotations.get(names.SAFE_TO_EVICT) == "false" else None


def _budget(pod: Pod, context: DrainContext) -> bool | None:
    return False if any(each.disruptions_allowed < 1 for each in context.budgets_of(pod.spec)) else None


_RULES: Final[tuple[_Rule, ...]] = (_said, _not_replicated, _system, _not_safe, _budget)


def may_be_moved(pods: Iterable[Pod], context: DrainContext) -> bool:
    """Whether the autoscaler would evict all of these pods."""
    return all(_may_go(pod, context) for pod in pods)


def _may_go(pod: Pod, context: DrainContext) -> bool:
    return next((answer for rule in _RULES if (answer := rule(pod, context)) is not None), True)
