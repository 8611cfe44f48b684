"""May a pod be moved that names who answers requests to evict it? Only by such a request, and with time for them.

The Eviction API passes them by, so where the policy does not ask, or the cluster has no such requests, the pod keeps
its node. An active responder that says nothing for 20 minutes is passed over for the next one, the last of all evicts
the pod by the Eviction API: a drain that ends before that withdraws its request though nothing is wrong.
Source: k8s.io/api lifecycle/v1alpha1 types.go of Kubernetes 1.37 (KEP-4563), see docs/decisions/eviction-requests.md.
"""

from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from shared.core.cluster.pod import PodClass
from shared.core.policy import DrainSettings, EvictionResponders
from shared.core.reasons import Finding, PodBlock
from shared.core.rules.drain_context import DrainContext

SILENT_FOR: Final = timedelta(minutes=20)
"""How long a responder may say nothing before the next one takes its place."""
_NOT_SERVED: Final = "the cluster serves no EvictionRequests"


def responders(spec: PodClass, context: DrainContext) -> Iterable[Finding]:
    """Whom an eviction would pass by."""
    names = ", ".join(spec.eviction_responders)
    if names and context.policy.eviction_responders is EvictionResponders.LEAVE:
        yield Finding(PodBlock.EVICTION_RESPONDERS, names)
    elif names and not context.eviction_requests:
        yield Finding(PodBlock.EVICTION_RESPONDERS, f"{names}; {_NOT_SERVED}")


def responders_need_time(spec: PodClass, context: DrainContext) -> Iterable[Finding]:
    """The drain would end while one of them may still be silent."""
    asks = context.policy.eviction_responders is EvictionResponders.REQUEST
    needed = time_needed(spec, context.drain)
    if asks and spec.eviction_responders and context.drain.timeout < needed:
        least = f"a drain.timeout of at least {round(needed.total_seconds() / 60, 1):g}m"
        yield Finding(PodBlock.RESPONDERS_NEED_TIME, f"{', '.join(spec.eviction_responders)}: {least}")


def time_needed(spec: PodClass, drain: DrainSettings) -> timedelta:
    """Return what each of them may take before the last evicts the pod, and the grace that nobody can cut."""
    uncut = timedelta(seconds=spec.grace_seconds) - drain.max_grace
    return SILENT_FOR * len(spec.eviction_responders) + max(uncut, timedelta(0))
