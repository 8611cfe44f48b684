"""The parts of an installation that checks read, each once and only when needed, and the findings of checks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Any, Protocol, TypeVar

from shared.adapters.process import system_time
from shared.core.records.state import ClusterState
from shared.errors import EbbError
from shared.ports import Cluster, CommitmentList, PolicySource, PoolsReading
from shared.settings import Settings, read_settings
from shared.store.compare_and_set import read_cluster
from shared.wiring import (
    access_reviews_of,
    cluster_of,
    commitments_of,
    identity,
    policy_of,
    pools_of,
    state_of,
    topic_rights_of,
)


class Grade(StrEnum):
    """How bad it is; a `FAIL` keeps Ebb from working."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    SKIP = "skip"  # Not looked at: what it rests on has failed.


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One thing that was looked at. The remedy is empty where nothing is to be done."""

    check: str
    grade: Grade
    sentence: str
    remedy: str = ""


def ok(check: str, sentence: str) -> CheckResult:
    return CheckResult(check, Grade.OK, sentence)


def warn(check: str, sentence: str, remedy: str) -> CheckResult:
    return CheckResult(check, Grade.WARN, sentence, remedy)


def fail(check: str, sentence: str, remedy: str) -> CheckResult:
    return CheckResult(check, Grade.FAIL, sentence, remedy)


T = TypeVar("T")
Remembered = tuple[ClusterState, str | None, datetime]  # The cluster's own document, its version, and the state's time.


class RightsReview(Protocol):
    """What the API server answers about the caller's rights."""

    def may(self, verb: str, group: str, resource: str) -> bool:
        """Whether the one who asks may do so in every namespace."""

    def serves(self, group: str, resource: str) -> bool:
        """Whether the cluster has that kind."""

    def standing(self, group: str, resource: str, name: str) -> Mapping[str, Any] | None:
        """What stands under that name of a kind that has no namespace; None where nothing does."""


@dataclass(frozen=True)
class InstallationParts:
    """Openers raise what opening raises: BadSettings, Retryable, Terminal."""

    settings: Settings
    identity: Callable[[], str]
    pools: Callable[[], PoolsReading]
    cluster: Callable[[], Cluster]
    reviews: Callable[[], RightsReview]
    remembered: Callable[[], Remembered]
    policy: Callable[[], PolicySource]
    topic_rights: Callable[[], Mapping[str, bool]]
    commitments: Callable[[], CommitmentList]
    now: Callable[[], datetime]


def installation_parts(environment: Mapping[str, str]) -> InstallationParts:
    """Return the installation that the environment names. Raises BadSettings: a variable is missing or wrong."""
    settings = read_settings(environment, "topic", "policy")
    return InstallationParts(
        settings=settings,
        identity=identity,
        pools=once(lambda: pools_of(settings).read()),
        cluster=once(lambda: cluster_of(settings)),
        reviews=once(lambda: access_reviews_of(settings)),
        remembered=once(lambda: read_cluster(state_of(settings))),
        policy=lambda: policy_of(settings),
        topic_rights=lambda: topic_rights_of(settings),
        commitments=lambda: commitments_of(settings),
        now=system_time,
    )


def once(ask: Callable[[], T]) -> Callable[[], T]:
    """Ask when somebody first wants to know, and never again: a failure is the answer, too."""

    @cache
    def answer() -> tuple[T | None, EbbError | None]:
        try:
            return ask(), None
        except EbbError as failure:
            return None, failure

    def reported() -> T:
        value, failure = answer()
        if failure is not None:
            raise failure
        return value  # type: ignore[return-value]  # of the two exactly one is there

    return reported
