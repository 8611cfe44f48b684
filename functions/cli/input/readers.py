"""Reads a cluster from a dump, its API or a file of gcloud, and whether it is that of the named installation."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from functions.cli.dumps.files import name_of, short_names
from functions.cli.dumps.homes import Home, home_named
from functions.cli.input.files import check_dumps_exist, read_bytes
from functions.cli.input.missing_data import NO_BUDGETS, check_usable, drop_lost_pods, partial_pods, reprint_note
from functions.cli.output.format import some
from functions.cli.output.progress import count_bytes, reading_line
from shared.adapters.process import system_time
from shared.errors import BadInput, EbbError
from shared.ports import ClusterReading, PoolsReading

if TYPE_CHECKING:
    from functions.cli.dumps.reading import DumpedCluster
    from shared.core.policy import Policy


def is_installed(home: Home, *, confirmed: bool) -> bool:
    """Return whether a dump's nodes show EBB_CLUSTER's cluster, or nothing else and a person has `confirmed` it."""
    ours = home_named(os.environ.get("EBB_CLUSTER", ""))
    return ours is not None and (ours.may_be(home) if confirmed else ours == home)


def installed_policy() -> "Policy | None":
    """Return the policy that EBB_POLICY names, if it names one. Raises BadSettings, BadPolicy, Retryable, Terminal."""
    if not os.environ.get("EBB_POLICY"):
        return None
    from shared.settings import read_settings
    from shared.wiring import policy_of

    return policy_of(read_settings(os.environ)).read()


POOLS_OF_API: Final = "Pools are those that the GKE API names for {cluster}."
NO_GKE_API: Final = "pools are read from node labels, without minimum sizes, and counted as autoscaled."
HOW_GKE_API: Final = " Set EBB_CLUSTER to projects/PROJECT/locations/LOCATION/clusters/NAME to ask it."
BY_A_DUMP: Final = "Without access from here: run the command of `ebb dump` where there is access, then ebb plan FILE."
BY_LABELS: Final = PoolsReading({}, known=False)
FUTURE: Final = "A time in the dump lies in the future, and the snapshot counts as taken then; --at TIME sets another."
_AHEAD: Final = timedelta(days=1)
"""By so much the clock of the machine that reads a dump may be behind that of the cluster."""
_GKE_CONTEXT_PARTS: Final = 4
"""gcloud names a context gke_PROJECT_LOCATION_CLUSTER; none of the three may hold an underscore."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read: of which cluster, when, and a note on what its pools rest on."""

    cluster: str
    cluster_reading: ClusterReading
    pools: PoolsReading
    now: datetime
    note: str
    dump: "DumpedCluster | None" = None  # What it was read from; None if that was its API.
    partial: str = ""  # Why the pods of a dump cannot be all; empty where they may be.
    warnings: tuple[str, ...] = ()
    installed: bool = False  # Whether it is the cluster of the installation that the environment names.
    profile_known: bool = True  # Whether what describes the pools also has the autoscaling profile.


def from_dumps(paths: tuple[Path, ...], *, confirmed: bool = False) -> tuple[Reading, ...]:
    """Read what kubectl printed of clusters; `confirmed`: a person names the installation. Raises BadInput."""
    check_dumps_exist(paths)
    from functions.cli.dumps.reading import read_dumps

    with count_bytes(short_names(paths)) as line:
        found = read_dumps(paths, line.add)
    return tuple(_of_dump(one, _title(one, found, paths), confirmed=confirmed) for one in found)


def _of_dump(found: "DumpedCluster", name: str, *, confirmed: bool) -> Reading:
    check_usable(name, found.reading)
    cluster_reading, lost = drop_lost_pods(found.reading)
    partial = partial_pods(found.reading.pods)
    ahead = found.newest > system_time() + _AHEAD
    warnings = (
        FUTURE if ahead else "",
        partial,
        reprint_note(found),
        lost,
        "" if "PodDisruptionBudget" in found.kinds else NO_BUDGETS,
    )
    note, installed = f"A dump has no GKE API: {NO_GKE_API}", is_installed(found.home, confirmed=confirmed)
    return Reading(name, cluster_reading, BY_LABELS, found.newest, note, found, partial, warnings, installed)


def _title(one: "DumpedCluster", found: Sequence["DumpedCluster"], paths: tuple[Path, ...]) -> str:
    """Return what a cluster is called: by what was typed, or where that is of several by its home and its files."""
    if len(found) == 1:
        return short_names(paths)
    return f"{one.home} ({short_names(one.files)})" if any(one.home) else short_names(one.files)


def from_cluster(kubeconfig: Path | None, context: str | None) -> Reading:
    """Read a kubeconfig's cluster, its pools from the GKE API if EBB_CLUSTER names it. Raises as its adapters."""
    from shared.adapters.kubernetes.client import KubernetesClient
    from shared.adapters.kubernetes.cluster import KubernetesCluster
    from shared.adapters.kubernetes.kubeconfig import KubeconfigFiles, from_kubeconfig

    path, now = str(kubeconfig or os.environ.get("EBB_KUBECONFIG", "")), system_time()
    try:
        access = from_kubeconfig(path, context)
        with reading_line("the cluster"):
            cluster_reading = KubernetesCluster(KubernetesClient(access)).read()
    except EbbError as failure:
        failure.args = (f"{failure}\n{BY_A_DUMP}",)
        raise
    cluster, pools = _pools()
    name, how = cluster or cluster_of(context or KubeconfigFiles(path).current()), "" if cluster else HOW_GKE_API
    note = POOLS_OF_API.format(cluster=name) if pools.known else f"Without a GKE API {NO_GKE_API}{how}"
    return Reading(name, cluster_reading, pools, now, note, installed=bool(cluster))


def cluster_of(context: str) -> str:
    """Return the full name of a GKE cluster whose context gcloud wrote; any other context stays as it is."""
    parts = context.split("_")
    if len(parts) != _GKE_CONTEXT_PARTS or parts[0] != "gke":
        return context
    return f"projects/{parts[1]}/locations/{parts[2]}/clusters/{parts[3]}"


def _pools() -> tuple[str, PoolsReading]:
    """Return the cluster's name and its pools, as far as the environment names them."""
    if not os.environ.get("EBB_CLUSTER"):
        return "", BY_LABELS
    from shared.settings import read_settings
    from shared.wiring import pools_of

    settings = read_settings(os.environ)
    return settings.cluster, pools_of(settings).read()


NODE_POOLS: Final = "gcloud container node-pools list --cluster NAME --location LOCATION --format json"
"""`clusters describe NAME` has the autoscaling profile, too."""


def with_node_pools(readings: tuple[Reading, ...], path: Path) -> tuple[Reading, ...]:
    """Return the reading of one cluster with the pools of gcloud's file. Raises BadInput: it is none, or lacks one."""
    reading, *others = readings
    if others:
        raise BadInput("--node-pools: the file is of one cluster; name the dump of one.")
    from shared.adapters.gke import reading_of

    cluster, name = _read_node_pools(path), name_of(path)
    pools = reading_of(cluster)
    missing = sorted({node.pool for node in reading.cluster_reading.nodes if node.pool} - set(pools.pools))
    if missing:
        raise BadInput(f"--node-pools: {name} lacks {some(missing)} of {reading.cluster}; write it again: {NODE_POOLS}")
    note = f"Pools are those of {name}: their autoscaling, minimum sizes and versions."
    known = bool(cluster.autoscaling.autoscaling_profile)
    return (replace(reading, pools=pools, note=note, profile_known=known),)


def _read_node_pools(path: Path) -> Any:
    """Return what gcloud wrote as the API's own Cluster: it prints the API's JSON, of a cluster or a list of pools."""
    from google.cloud.container_v1.types import Cluster
    from google.protobuf import json_format  # type: ignore[import-untyped]  # no types

    data = read_bytes(path)
    whole = b'{"nodePools": %b}' % data if data.lstrip().startswith(b"[") else data
    try:
        cluster = Cluster.from_json(whole, ignore_unknown_fields=True)
        if cluster.node_pools:
            return cluster
        why = "it has no nodePools"
    except (json_format.ParseError, UnicodeDecodeError) as error:
        why = f"it is not what gcloud prints ({str(error).rstrip('.')})"
    raise BadInput(f"--node-pools: {name_of(path)}: {why}; write it again: {NODE_POOLS}")
