"""What is used beside what is requested, where metrics.k8s.io answers: it informs, and changes no verdict.

Must not fail: without an answer a note says so.
"""

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from functions.cli.errors import told
from functions.cli.inputs import Sources
from shared.core.cluster.resources import Resources
from shared.errors import EbbError

if TYPE_CHECKING:
    from functions.cli.explain.usage_metrics import MeasuredUsage

_SECONDS: Final = 10.0
"""Longer nobody waits for what only informs."""
_UNKNOWN: Final = "Usage is not known ({why}); requests decide anyway."


@dataclass(frozen=True)
class ShownUsage:
    """By node and by pod; empty where it is not known, and then the note says why (nothing of a dump)."""

    nodes: "dict[str, Resources]" = field(default_factory=dict)
    pods: "dict[str, Resources]" = field(default_factory=dict)
    note: str = ""


def usage_of(sources: Sources) -> ShownUsage:
    """Ask the cluster that is explained; a dump has no usage."""
    if sources.dumps:
        return ShownUsage()
    try:
        found = _read(sources)
    except EbbError as failure:
        return ShownUsage(note=_UNKNOWN.format(why=told(failure).rstrip(".")))
    return ShownUsage(dict(found.nodes), dict(found.pods))


def _read(sources: Sources) -> "MeasuredUsage":
    from functions.cli.explain.usage_metrics import UsageMetrics
    from shared.adapters.kubernetes.access import from_kubeconfig
    from shared.adapters.kubernetes.client import KubernetesClient

    path = str(sources.kubeconfig or os.environ.get("EBB_KUBECONFIG", ""))
    client = KubernetesClient(from_kubeconfig(path, sources.context), read_seconds=_SECONDS)
    return UsageMetrics(client).read()


def used(known: Resources | None, asked: Resources) -> str:
    """Return what is used of what is asked for, or offered: `250m of 1000m CPU, 512 of 1,024 MiB`."""
    if known is None:
        return ""
    return f"{known.cpu}m of {asked.cpu}m CPU, {known.memory >> 20:,} of {asked.memory >> 20:,} MiB"
