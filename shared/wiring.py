"""The composition root: settings → ports. The only place where real things are chosen, once an instance.

Clients are imported when they are first made, so that a cold start pays only for what it uses.
"""

import sys
from collections.abc import Mapping
from functools import cache
from typing import Final

from shared.adapters.compute import RegionCommitments
from shared.adapters.gke import GkeCluster, LabelPools
from shared.adapters.kubernetes.access import Access, from_google
from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.adapters.kubernetes.discovery import AccessReviews
from shared.adapters.kubernetes.kubeconfig import from_kubeconfig
from shared.adapters.prices import load
from shared.adapters.process import SystemClock
from shared.adapters.storage import BucketPolicy, FilePolicy
from shared.core.policy.parsing import parse
from shared.log import JsonLog
from shared.ports import Cluster, CommitmentList, OrderBus, PolicySource, Pools, Ports, State
from shared.settings import Settings, not_set

NO_GKE_API: Final = "none"
_SQLITE: Final = "sqlite:"
_BUCKET: Final = "gs://"


def ports_of(settings: Settings) -> Ports:
    """Return all that a function needs of the world. Raises BadInput for a bad price table, and as its parts."""
    return Ports(
        cluster=cluster_of(settings),
        pools=pools_of(settings),
        state=state_of(settings),
        policy=policy_of(settings),
        orders=orders_of(settings),
        clock=SystemClock(),
        log=JsonLog(sys.stdout, settings.log_level, settings.cluster, settings.project),
        prices=load(),
        commitments=commitments_of(settings),
    )


def commitments_of(settings: Settings) -> CommitmentList:
    """Return the list of commitments alone. The first read looks for an identity."""
    return RegionCommitments(settings.cluster, api="" if settings.gke_api == NO_GKE_API else settings.gke_api)


def cluster_of(settings: Settings) -> Cluster:
    """Return the way into the cluster alone. Raises as `from_kubeconfig`, or else as `GkeCluster.endpoint`."""
    return KubernetesCluster(KubernetesClient(_access(settings)))


@cache
def _gke(cluster: str, api: str) -> GkeCluster:
    """Return one client an instance: pools and endpoint are read by the same."""
    return GkeCluster(cluster, api="" if api == NO_GKE_API else api)


def _access(settings: Settings) -> Access:
    if settings.kubeconfig:
        return from_kubeconfig(settings.kubeconfig)
    return from_google(lambda: _gke(settings.cluster, settings.gke_api).endpoint(settings.endpoint))


def state_of(settings: Settings) -> State:
    """Return the state alone. Raises Terminal when it cannot be opened."""
    if settings.state.startswith(_SQLITE):
        from shared.adapters.sqlite import SqliteState

        return SqliteState(settings.state.removeprefix(_SQLITE), settings.cluster)
    from shared.adapters.firestore import FirestoreState

    return FirestoreState(*settings.state_database, settings.cluster)


def pools_of(settings: Settings) -> Pools:
    """Return the way to the GKE API alone."""
    return LabelPools() if settings.gke_api == NO_GKE_API else _gke(settings.cluster, settings.gke_api)


def access_reviews_of(settings: Settings) -> AccessReviews:
    """Return who is asked what this identity may do in the cluster. Raises as `cluster_of`."""
    return AccessReviews(KubernetesClient(_access(settings)))


def topic_rights_of(settings: Settings) -> Mapping[str, bool]:
    """Return for each named topic whether this identity may publish to it. Raises as `may_publish`."""
    from shared.adapters.pubsub import may_publish

    topics = (settings.topic, settings.rejected_topic, settings.results_topic)
    return {topic: may_publish(topic) for topic in topics if topic}


def identity() -> str:
    """Return who this process is to Google's services. Raises Terminal without an identity, Retryable if stale."""
    from shared.adapters.google_failures import who

    return who()


def policy_of(settings: Settings) -> PolicySource:
    """Return where the policy stands. Raises BadSettings if none is named, and as `BucketPolicy`."""
    if not settings.policy:
        raise not_set(["policy"])
    if settings.policy.startswith(_BUCKET):
        bucket, _, name = settings.policy.removeprefix(_BUCKET).partition("/")
        return BucketPolicy(bucket, name, parse)
    return FilePolicy(settings.policy, parse)


def orders_of(settings: Settings) -> OrderBus:
    """Return the way to the drainer. Raises BadSettings if no topic is named, and as `PubSubOrders`."""
    if not settings.topic:
        raise not_set(["topic"])
    from shared.adapters.pubsub import PubSubOrders

    return PubSubOrders(settings.topic, settings.rejected_topic, settings.results_topic)
