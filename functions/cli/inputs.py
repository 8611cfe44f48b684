"""What a plan rests on, gathered from where a person said: a dump or a kubeconfig, a policy file, a time.

A plan made here knows nothing of earlier passes: the planner's marks and claims are its own. Each thing that
is not known is said in a note, never guessed silently. Must not decide anything.
"""

import os
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

from functions.cli import gaps
from functions.cli.files import read_policy
from functions.cli.input_readers import Reading, from_cluster, from_dumps
from functions.cli.installed import installed_policy
from functions.cli.pending_note import pending_note
from functions.cli.pricing import LISTED, PriceOptions, basis, priced, unused_discounts
from shared.answers import ClusterReading
from shared.core.cluster.names import PACKING_SCHEDULER, POOL_LABEL
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.prices import Prices
from shared.core.planning.unknown_pools import unknown_pools
from shared.core.policy import Policy, PoolPolicy
from shared.core.rules.pod_costs import unread_costs
from shared.errors import BadInput
from shared.store.snapshots import snapshot_of

WARNING: Final = "warning: "
"""How a note begins that something is odd, and not only unknown."""
NO_POLICY: Final = "Without --policy every pool counts as enabled, with default settings."
INSTALLED_POLICY: Final = "The policy is the installation's, which EBB_POLICY names; --policy takes its place."
OTHER_POLICY: Final = (
    "EBB_POLICY is not read: this is not known to be EBB_CLUSTER's cluster; --cluster NAME says it is."
)
NO_MARKS: Final = "No marks of earlier passes are known here: what could go waits until a mark set now is old enough."
NO_WORKLOADS: Final = (
    "No ReplicaSets, Deployments and StatefulSets are known here: no rollout is seen, and replicas are the pods "
    "that are there; add replicasets,deployments,statefulsets to the dump."
)
NOT_GKE: Final = (
    f"No node carries the label {POOL_LABEL}: this does not look like GKE{{cloud}}, and Ebb drains nothing elsewhere."
)
NO_PROFILE: Final = (
    "The autoscaling profile is taken as balanced (nodes are drained up to 50 % of requests, or as their ComputeClass "
    "says): no pod says otherwise."
)
PACKING: Final = (
    "The autoscaling profile is taken as optimize-utilization (nodes are drained up to 85 % of requests, or as their "
    "ComputeClass says): pods name its scheduler."
)
EVERY_POOL: Final = Policy(other_pools=PoolPolicy(enabled=True))


@dataclass(frozen=True, slots=True)
class Sources:
    """What a person named; at most one of dumps and kubeconfig."""

    dumps: tuple[Path, ...] = ()
    kubeconfig: Path | None = None
    context: str | None = None
    policy: Path | None = None
    at: datetime | None = None
    prices: PriceOptions = LISTED
    installation: bool = False
    """Whether a person named an installation (--cluster), whose cluster a dump is then taken to be of."""

    @property
    def named(self) -> bool:
        """Whether a cluster or a dump was named."""
        return bool(self.dumps or self.kubeconfig or self.context)


@dataclass(frozen=True)
class Inputs:
    """What a plan rests on, and the notes that say what it does not know."""

    snapshot: Snapshot
    policy: Policy
    prices: Prices
    notes: tuple[str, ...]
    partial: str = ""
    """Why no figure is the whole one; empty where all that counts is known."""
    own_policy: bool = False
    """Whether somebody wrote the policy; otherwise every pool counts as enabled."""
    installed: bool = False
    """Whether it is the cluster of the installation that the environment names."""
    dumped: bool = False
    demand: tuple[tuple[str, bytes], ...] = ()
    """Objects of a dump that no plan reads and simulated days do, each with its kind."""


def gather(sources: Sources, read: Policy | None = None) -> Inputs:
    """Read everything that a plan of one cluster needs; `read` takes the place of the policy file that was named.

    Raises:
        BadInput: as `gather_each`, or the dumps are of several clusters.
        BadDump, BadPolicy: a file does not hold what it should.
        Retryable, Terminal: the cluster cannot be read.
    """
    one, *others = gather_each(sources, read)
    if others:
        names = "; ".join(each.snapshot.cluster for each in (one, *others))
        raise BadInput(f"--dump: {len(others) + 1} clusters ({names}); name the dump of one.")
    return one


def gather_each(sources: Sources, read: Policy | None = None) -> tuple[Inputs, ...]:
    """Read everything that plans need, of each cluster that was named.

    Raises:
        BadInput: both a dump and a kubeconfig were named, or a file is not there, or no plan can be made of it.
        BadDump, BadPolicy: a file does not hold what it should.
        Retryable, Terminal: the cluster cannot be read.
    """
    if sources.dumps and (sources.kubeconfig or sources.context):
        raise BadInput("--dump: a dump takes the place of the cluster; leave out --kubeconfig and --context.")
    given = read if read or sources.policy is None else read_policy(sources.policy)
    if sources.dumps:
        readings = from_dumps(sources.dumps, said=sources.installation)
    else:
        readings = (from_cluster(sources.kubeconfig, sources.context),)
    return tuple(_with_its_policy(sources, given, each) for each in readings)


def _with_its_policy(sources: Sources, given: Policy | None, reading: Reading) -> Inputs:
    """Return the inputs with the policy that was given, else with the installation's where it is its cluster."""
    policy = given or (installed_policy() if reading.installed else None)
    inputs = inputs_of(sources, policy, reading)
    if given is not None or not os.environ.get("EBB_POLICY"):
        return inputs
    return replace(inputs, notes=(*inputs.notes, INSTALLED_POLICY if policy else OTHER_POLICY))


def inputs_of(sources: Sources, given: Policy | None, reading: Reading) -> Inputs:
    """Return what a plan of one reading rests on; without a policy every pool counts as enabled."""
    policy, notes = (EVERY_POOL, (NO_POLICY,)) if given is None else (given, ())
    now, prices, dumped = sources.at or reading.now, priced(sources.prices), reading.dumped
    snapshot = snapshot_of(reading.cluster, reading.cluster_reading, reading.pools, now, now)
    snapshot, profile = _with_profile(snapshot)
    unread = gaps.unread(snapshot, in_dump=bool(sources.dumps))
    known = (*dumped.left_out, *_no_workloads(reading.cluster_reading), *unread)
    said = (dumped.partial, dumped.again, pending_note(snapshot.pending))
    short = tuple(f"{WARNING}{each}" for each in said if each)
    unused = (f"{WARNING}{sentence}" for sentence in unused_discounts(snapshot, prices))
    costs = (f"{WARNING}{sentence}" for sentence in unread_costs(snapshot))
    odd = (*short, *warnings_of(policy, snapshot), *_elsewhere(snapshot, dumped.cloud), *unused, *costs)
    return Inputs(
        snapshot,
        policy,
        prices,
        (*odd, *notes, reading.note, *profile, NO_MARKS, *basis(snapshot, prices), *known),
        dumped.partial,
        own_policy=given is not None,
        installed=reading.installed,
        dumped=bool(sources.dumps),
        demand=dumped.demand,
    )


def warnings_of(policy: Policy, snapshot: Snapshot) -> tuple[str, ...]:
    """Return what is odd about a policy beside that cluster, each as a note that says it is a warning."""
    return tuple(f"{WARNING}{sentence}" for sentence in unknown_pools(policy, snapshot).values())


def _with_profile(snapshot: Snapshot) -> tuple[Snapshot, tuple[str, ...]]:
    """Return the picture with the autoscaling profile that its pods tell of, where no GKE API has told it."""
    if snapshot.pools_known or not snapshot.pods:
        return snapshot, ()
    packs = any(pod.spec.scheduler == PACKING_SCHEDULER for pod in snapshot.pods)
    profile = "OPTIMIZE_UTILIZATION" if packs else "BALANCED"
    return replace(snapshot, profile=profile), (PACKING if packs else NO_PROFILE,)


def _elsewhere(snapshot: Snapshot, cloud: str) -> tuple[str, ...]:
    if not snapshot.nodes or any(node.pool for node in snapshot.nodes):
        return ()
    return (f"{WARNING}{NOT_GKE.format(cloud=cloud)}",)


def _no_workloads(cluster_reading: ClusterReading) -> tuple[str, ...]:
    return () if cluster_reading.workloads or not cluster_reading.pods else (NO_WORKLOADS,)
