"""The input of a plan: a dump or a kubeconfig, a policy file, a time, and what earlier passes left."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

from functions.cli.errors import message_of
from functions.cli.input.commitments import (
    COUNTED_BY_EACH,
    CommitmentFile,
    ended_commitments,
    listed_by_planner,
    read_commitments,
    with_commitments,
)
from functions.cli.input.files import DUMP_OR_CLUSTER, read_policy
from functions.cli.input.missing_data import NO_NAMESPACES, NO_WORKLOADS, pending_note, without_requests
from functions.cli.input.options import Sources
from functions.cli.input.pricing import load_prices, price_notes, prices_of, unused_discounts
from functions.cli.input.readers import Reading, from_cluster, from_dumps, installed_policy, with_node_pools
from functions.cli.output.format import WARNING, some
from shared.core.cluster.names import PACKING_SCHEDULER, POOL_LABEL
from shared.core.cluster.node import region_of
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.bill import unpriced_families
from shared.core.planning.prices import Prices
from shared.core.policy import Policy, PoolPolicy
from shared.core.records.state import ClusterState, Mark, PoolMarks, Wave
from shared.core.rules.nodes import unknown_pools
from shared.core.rules.pod_costs import unread_costs
from shared.errors import BadInput, Retryable, Terminal
from shared.ports import WAVE_KEY
from shared.store.snapshots import snapshot_of, unread_lists

NO_POLICY: Final = "Without --policy every pool counts as enabled, with default settings."
INSTALLED_POLICY: Final = "The policy is the installation's, which EBB_POLICY names; --policy takes its place."
OTHER_POLICY: Final = "EBB_POLICY is not read: this is not known to be EBB_CLUSTER's cluster; --cluster NAME names it."
NO_MARKS: Final = "No marks of earlier passes are known here: what could go waits until a mark set now is old enough."
NOT_GKE: Final = (
    f"No node carries the label {POOL_LABEL}: this does not look like GKE, and Ebb drains nothing elsewhere."
)
LET_LIST: Final = "let this account list them"
NO_PROFILE: Final = (
    "The autoscaling profile is taken as balanced, because no pod shows another. It drains nodes up to 50% of "
    "requests without DaemonSets, or up to the threshold of their ComputeClass."
)
PACKING: Final = (
    "The autoscaling profile is taken as optimize-utilization, because pods name its scheduler. It drains nodes up "
    "to 85% of requests without DaemonSets, or up to the threshold of their ComputeClass."
)
EVERY_POOL: Final = Policy(other_pools=PoolPolicy(enabled=True))


@dataclass(frozen=True)
class Inputs:
    """What a plan rests on, and the notes that name what it does not know."""

    snapshot: Snapshot
    policy: Policy
    prices: Prices
    notes: tuple[str, ...]
    partial: str = ""  # Why no figure is the whole one; empty where all that counts is known.
    own_policy: bool = False  # Whether somebody wrote the policy; otherwise every pool counts as enabled.
    installed: bool = False  # Whether it is the cluster of the installation that the environment names.
    dumped: bool = False
    committed: CommitmentFile | None = None

    def committed_under(self, policy: Policy) -> Policy:
        """Return another policy with the families of the file that was named, as this cluster's own policy has them."""
        return with_commitments(policy, self.committed, region_of(self.snapshot.nodes), self.snapshot.taken_at)[0]


def gather(sources: Sources, read: Policy | None = None) -> Inputs:
    """Read all that a plan of one cluster needs; `read` replaces the policy file. Raises as `gather_each`."""
    one, *others = gather_each(sources, read)
    if others:
        names = "; ".join(inputs.snapshot.cluster for inputs in (one, *others))
        raise BadInput(f"--dump: {len(others) + 1} clusters ({names}); name the dump of one.")
    return one


def gather_each(sources: Sources, read: Policy | None = None) -> tuple[Inputs, ...]:
    """Read everything that plans need, of each cluster that was named.

    Raises BadInput: both a dump and a kubeconfig were named, or a file is not there, or no plan can be made; BadDump,
    BadPolicy: a file does not hold what it should; Retryable, Terminal: the cluster cannot be read.
    """
    if sources.dumps and (sources.kubeconfig or sources.context):
        raise BadInput(DUMP_OR_CLUSTER)
    given = read if read or sources.policy is None else read_policy(sources.policy)
    if sources.dumps:
        readings = from_dumps(sources.dumps, confirmed=sources.installation)
    else:
        readings = (from_cluster(sources.kubeconfig, sources.context),)
    if sources.node_pools:
        readings = with_node_pools(readings, sources.node_pools)
    committed = read_commitments(sources.commitments) if sources.commitments else None
    found = tuple(_with_its_policy(sources, given, reading, committed) for reading in readings)
    if len(found) > 1 and any(inputs.policy.commitments for inputs in found):
        return tuple(replace(inputs, notes=(*inputs.notes, COUNTED_BY_EACH)) for inputs in found)
    return found


def _with_its_policy(
    sources: Sources, given: Policy | None, reading: Reading, committed: CommitmentFile | None
) -> Inputs:
    """Return the inputs with the policy that was given, else with the installation's where it is its cluster."""
    policy = given or (installed_policy() if reading.installed else None)
    inputs = inputs_of(sources, policy, reading, committed)
    if given is not None or not os.environ.get("EBB_POLICY"):
        return inputs
    return replace(inputs, notes=(*inputs.notes, INSTALLED_POLICY if policy else OTHER_POLICY))


def inputs_of(
    sources: Sources, given: Policy | None, reading: Reading, committed: CommitmentFile | None = None
) -> Inputs:
    """Return what a plan of one reading rests on; without a policy every pool counts as enabled."""
    own, notes = (EVERY_POOL, (NO_POLICY,)) if given is None else (given, ())
    now, dump, listed = sources.at or reading.now, reading.dump, load_prices(sources.prices)
    snapshot = snapshot_of(reading.cluster, reading.cluster_reading, reading.pools, now, now)
    snapshot, profile = _with_profile(snapshot, known=reading.profile_known)
    region = region_of(snapshot.nodes)
    committed = committed or _listed_by_planner(own, reading, dumped=bool(sources.dumps))
    policy, paid = with_commitments(own, committed, region, now)
    prices = prices_of(snapshot, listed)
    odd = (
        *reading.warnings,
        pending_note(snapshot.pending),
        *odd_policy(policy, snapshot, listed),
        "" if not snapshot.nodes or any(node.pool for node in snapshot.nodes) else NOT_GKE,
        *unused_discounts(snapshot, prices),
        *unread_costs(snapshot),
        committed.unknown(region) if committed else "",
    )
    missing = (
        NO_NAMESPACES if dump and "Namespace" not in dump.kinds else "",
        NO_WORKLOADS if reading.cluster_reading.pods and not reading.cluster_reading.workloads else "",
        *without_requests(snapshot),
        *unread_lists(snapshot, "add {} to the dump" if dump else LET_LIST),
    )
    rests_on = (*notes, reading.note, *profile, NO_MARKS, *price_notes(snapshot, prices), *paid, *filter(None, missing))
    return Inputs(
        snapshot,
        policy,
        prices,
        (*as_warnings(odd), *rests_on),
        reading.partial,
        own_policy=given is not None,
        installed=reading.installed,
        dumped=bool(sources.dumps),
        committed=committed,
    )


def _listed_by_planner(policy: Policy, reading: Reading, *, dumped: bool) -> CommitmentFile | None:
    """Return the planner's list, if the policy has it read and the state is this cluster's and can be read."""
    if not policy.commitments.read or not reading.installed or not os.environ.get("EBB_STATE"):
        return None
    try:
        return listed_by_planner(os.environ)
    except (Retryable, Terminal):
        if dumped:
            return None
        raise


def as_warnings(sentences: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{WARNING}{sentence}" for sentence in sentences if sentence)


def odd_policy(policy: Policy, snapshot: Snapshot, prices: Prices) -> Iterator[str]:
    """Yield what is odd about a policy for that cluster; an empty sentence stands for nothing."""
    yield from unknown_pools(policy, snapshot).values()
    unnamed = sorted({*snapshot.pools, *snapshot.nodes_by_pool} - {"", *policy.pools}) if policy.defaults_enable else []
    if unnamed:
        yield (
            "defaults.enabled: defaults hold only for pools that nodePools names, so Ebb drains nothing of "
            f"{some(unnamed)}; write nodePools: {{{unnamed[0]}: {{}}}}."
        )
    yield unpriced_families(policy.commitments, prices)
    yield ended_commitments(policy.commitments, snapshot.taken_at)


def _with_profile(snapshot: Snapshot, *, known: bool) -> tuple[Snapshot, tuple[str, ...]]:
    """Return the snapshot with the autoscaling profile that its pods show, if nothing else has it."""
    if (snapshot.pools_known and known) or not snapshot.pods:
        return snapshot, ()
    packs = any(pod.spec.scheduler == PACKING_SCHEDULER for pod in snapshot.pods)
    profile = "OPTIMIZE_UTILIZATION" if packs else "BALANCED"
    return replace(snapshot, profile=profile), (PACKING if packs else NO_PROFILE,)


MARKED: Final = "Every node that could go counts as marked long ago (--assume-marked)."
IN_REACH: Final = "Marks, claims and back-offs are those of the installation whose state EBB_STATE names."
OTHER_CLUSTER: Final = (
    "No marks are used: this is not known to be the cluster that EBB_CLUSTER names; --cluster NAME confirms it, "
    "--assume-marked counts every node as marked long ago."
)
_LONG: Final = timedelta(days=3661)  # Longer than any age that a policy may ask of a mark.


@dataclass(frozen=True)
class PastPasses:
    """State and marks, and the note that names their source."""

    state: ClusterState = field(default_factory=ClusterState)
    marks: Mapping[str, PoolMarks] | None = None  # None where nobody knows any.
    note: str = NO_MARKS
    assumed: bool = False
    wave: Wave | None = None  # The wave's document; whether it lives is not judged.

    def notes_of(self, inputs: Inputs) -> tuple[str, ...]:
        return tuple(self.note if note == NO_MARKS else note for note in inputs.notes)


def recall_passes(inputs: Inputs, *, assume_marked: bool) -> PastPasses:
    """Return what earlier passes left; none for a dump whose state cannot be read. Raises Retryable, Terminal."""
    snapshot = inputs.snapshot
    if assume_marked:
        state = ClusterState(last_pass=snapshot.taken_at)
        return PastPasses(state, all_marked(snapshot), MARKED, assumed=True)
    if not os.environ.get("EBB_STATE") or not os.environ.get("EBB_CLUSTER"):
        return PastPasses()
    if not inputs.installed:
        return PastPasses(note=OTHER_CLUSTER)
    try:
        return _recall_installation()
    except (Retryable, Terminal) as error:
        if inputs.dumped:
            why = message_of(error).rstrip(".")
            return PastPasses(note=f"No marks are used: {why}; --assume-marked counts every node as marked long ago.")
        raise


def all_marked(snapshot: Snapshot) -> dict[str, PoolMarks]:
    """Return marks of long ago for all nodes; the planner keeps those of nodes that could go."""
    since = snapshot.taken_at - _LONG
    return {
        pool: PoolMarks(marks={node.uid: Mark(node.name, since) for node in nodes})
        for pool, nodes in snapshot.nodes_by_pool.items()
    }


def _recall_installation() -> PastPasses:
    from shared.settings import read_settings
    from shared.store.compare_and_set import read_cluster, read_lenient
    from shared.wiring import state_of

    state = state_of(read_settings(os.environ))
    cluster, _, _ = read_cluster(state)
    marks = {pool: stored.value or PoolMarks() for pool, stored in state.all("pools", PoolMarks).items()}
    return PastPasses(cluster, marks, IN_REACH, wave=read_lenient(state, WAVE_KEY).value)
