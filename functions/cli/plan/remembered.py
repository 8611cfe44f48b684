"""What earlier passes left: the state and marks of an installation that is in reach, or marks that a person assumes.

Must not judge; a plan made here orders nothing, and writes nothing of it back.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from functions.cli.errors import told
from functions.cli.inputs import NO_MARKS, Inputs
from shared.core.cluster.snapshot import Snapshot
from shared.core.records.state import ClusterState, Mark, PoolMarks
from shared.errors import Retryable, Terminal

MARKED: Final = "Every node that could go counts as marked long ago (--assume-marked)."
IN_REACH: Final = "Marks, claims and back-offs are those of the installation whose state EBB_STATE names."
OTHER_CLUSTER: Final = (
    "No marks are used: this is not known to be the cluster that EBB_CLUSTER names; --cluster NAME says that it is, "
    "--assume-marked counts every node as marked long ago."
)
UNREAD: Final = "No marks are used: {why}; --assume-marked counts every node as marked long ago."
_LONG: Final = timedelta(days=3661)
"""Longer than any age that a policy may ask of a mark."""


@dataclass(frozen=True)
class PastPasses:
    """State and marks, and the note that says whose they are."""

    state: ClusterState = field(default_factory=ClusterState)
    marks: Mapping[str, PoolMarks] | None = None
    """None where nobody knows any."""
    note: str = NO_MARKS
    assumed: bool = False


def remembered(inputs: Inputs, *, assume_marked: bool) -> PastPasses:
    """Return what is known of earlier passes. A dump is planned without them where the state cannot be read, too.

    Raises:
        BadSettings: the environment names a state that cannot be used.
        Retryable, Terminal: the state cannot be read.
    """
    snapshot = inputs.snapshot
    if assume_marked:
        state = ClusterState(last_pass=snapshot.taken_at)
        return PastPasses(state, all_marked(snapshot), MARKED, assumed=True)
    if not os.environ.get("EBB_STATE") or not os.environ.get("EBB_CLUSTER"):
        return PastPasses()
    if not inputs.installed:
        return PastPasses(note=OTHER_CLUSTER)
    try:
        return _installed()
    except (Retryable, Terminal) as error:
        if inputs.dumped:
            return PastPasses(note=UNREAD.format(why=told(error).rstrip(".")))
        raise


def all_marked(snapshot: Snapshot) -> dict[str, PoolMarks]:
    """Return marks of long ago for all nodes; the planner keeps those of nodes that could go."""
    since = snapshot.taken_at - _LONG
    return {
        pool: PoolMarks(marks={node.uid: Mark(node.name, since) for node in nodes})
        for pool, nodes in snapshot.nodes_by_pool.items()
    }


def _installed() -> PastPasses:
    from shared.settings import read_settings
    from shared.store.compare_and_set import read_cluster
    from shared.wiring import state_of

    state = state_of(read_settings(os.environ))
    cluster, _, _ = read_cluster(state)
    marks = {pool: each.value or PoolMarks() for pool, each in state.all("pools", PoolMarks).items()}
    return PastPasses(cluster, marks, IN_REACH)
