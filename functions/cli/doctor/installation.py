"""The parts of an installation that checks look at, each opened once, and only when a check asks. Must not judge."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Protocol

from shared.adapters.clock import system_time
from shared.ports import Cluster, PolicySource, Pools, State
from shared.settings import Settings, read_settings
from shared.wiring import (
    access_reviews_of,
    cluster_of,
    identity,
    policy_of,
    pools_of,
    state_of,
    topic_rights_of,
)


class RightsReview(Protocol):
    """What the API server says of the rights of whoever asks."""

    def may(self, verb: str, group: str, resource: str) -> bool:
        """Whether the one who asks may do so in every namespace."""

    def has_admission_policy(self, name: str) -> bool:
        """Whether a ValidatingAdmissionPolicy of that name has a binding."""


@dataclass(frozen=True)
class InstallationParts:
    """Openers raise what opening raises: BadSettings, Retryable, Terminal."""

    settings: Settings
    identity: Callable[[], str]
    pools: Callable[[], Pools]
    cluster: Callable[[], Cluster]
    reviews: Callable[[], RightsReview]
    state: Callable[[], State]
    policy: Callable[[], PolicySource]
    topic_rights: Callable[[], Mapping[str, bool]]
    """By topic, whether whoever asks may publish."""
    now: Callable[[], datetime]


def parts_of(environment: Mapping[str, str]) -> InstallationParts:
    """Return the installation that the environment names.

    Raises:
        BadSettings: a variable is missing or wrong.
    """
    settings = read_settings(environment, "topic", "policy")
    return InstallationParts(
        settings=settings,
        identity=identity,
        pools=cache(lambda: pools_of(settings)),
        cluster=cache(lambda: cluster_of(settings)),
        reviews=cache(lambda: access_reviews_of(settings)),
        state=cache(lambda: state_of(settings)),
        policy=lambda: policy_of(settings),
        topic_rights=lambda: topic_rights_of(settings),
        now=system_time,
    )
