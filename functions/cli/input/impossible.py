"""What no cluster can be, and an edited dump shows, is named and left out. Reading refuses amounts below 0."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from msgspec import structs

from functions.cli.output.format import count, moment, some
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.resources import CPU, MEMORY, Resources
from shared.port_types import ClusterReading

_LARGEST: Final = Resources.of({CPU: 100_000 * 1_000, MEMORY: 1 << 50})
"""Far more than the largest machine on offer has: 1,920 vCPUs and 32 TiB."""
_SHRUNK: Final = 2
"""A node that is set up again may offer less than before, and yet never half of what one of its pods requests."""
_TIMES: Final = ("created", "started", "unschedulable_since", "ready_since")
TOO_LARGE_NODE: Final = "Left out: {found} with more CPU or memory than any machine ({names}). Fix the dump."
NO_NODE: Final = "Left out: {found} on nodes that are not in the dump ({names}). Print nodes and pods with one command."
TOO_LARGE: Final = "Left out: {found} with requests above twice what the node offers ({names}). Fix the dump."
FUTURE: Final = "Times in the future are not used, those of {found} ({names}). The snapshot is of {newest}."


def drop_impossible(
    reading: ClusterReading, newest: datetime, future: Sequence[str] = ()
) -> tuple[ClusterReading, tuple[str, ...]]:
    """Return the reading without what cannot be, and a sentence a rule; `future` are objects after `newest`."""
    nodes = {node.name: node for node in reading.nodes if _could_be_a_machine(node)}
    huge = [node.name for node in reading.nodes if node.name not in nodes]
    bound = [pod for pod in reading.pods if pod.node and not pod.phase.finished]
    lost = [pod for pod in bound if pod.node not in nodes]
    large = [pod for pod in bound if pod.node in nodes and _is_too_large(pod, nodes[pod.node].allocatable)]
    gone = {id(pod) for pod in (*lost, *large)}
    if gone or huge or future:
        pods = tuple(_until(newest, pod) for pod in reading.pods if id(pod) not in gone)
        kept = tuple(replace(node, created=min(node.created, newest)) for node in nodes.values())
        reading = replace(reading, nodes=kept, pods=pods)
    groups = (
        (TOO_LARGE_NODE, "node", huge),
        (NO_NODE, "pod", [pod.key for pod in lost]),
        (TOO_LARGE, "pod", [pod.key for pod in large]),
        (FUTURE, "object", future),
    )
    return reading, tuple(
        text.format(found=count(len(names), thing), names=some(names), newest=moment(newest))
        for text, thing, names in groups
        if names
    )


def _could_be_a_machine(node: Node) -> bool:
    return all(node.allocatable.get(axis) <= most for axis, most in _LARGEST.amounts)


def _is_too_large(pod: Pod, offered: Resources) -> bool:
    """Whether a pod requests more than its node can have had when it began to run there; a new node offers nothing."""
    return any(pod.requests.get(axis) > _SHRUNK * offered.get(axis) > 0 for axis in (CPU, MEMORY))


def _until(newest: datetime, pod: Pod) -> Pod:
    """Return the pod with no time after that one; the same object if it has none."""
    later: dict[str, Any] = {
        name: newest for name in _TIMES if (time := getattr(pod, name)) is not None and time > newest
    }
    return structs.replace(pod, **later) if later else pod
