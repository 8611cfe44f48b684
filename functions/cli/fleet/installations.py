"""How the installations of a fleet are: in dry run, paused or live, and what fails. One read of state and policy each.

What is wrong is what `ebb status` and `ebb doctor` show of one installation.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from functions.cli.drains.status import InstallationStatus, status_of
from functions.cli.errors import message_of
from functions.cli.fleet.sources import InstallationSource
from functions.cli.output.format import clock, count, some
from shared.core.policy import Policy
from shared.errors import BadInput, EbbError
from shared.settings import read_settings
from shared.store.compare_and_set import read_cluster
from shared.wiring import policy_of, state_of

MOST_AT_ONCE: Final = 16
"""Each waits for two answers of Google's; more at once meet quotas sooner than they are done."""


class Mode(StrEnum):
    """What an installation does with what it finds."""

    LIVE = "live"
    DRY_RUN = "dry_run"
    PAUSED = "paused"

    @property
    def in_words(self) -> str:
        return self.value.replace("_", " ")


class Trouble(StrEnum):
    """Why an installation does not do what its policy asks for."""

    NO_PASS = "no_pass"  # noqa: S105 - a pass, and no word that opens anything
    BREAKER = "breaker"
    BACKOFFS = "backoffs"
    POLICY = "policy"


@dataclass(frozen=True, slots=True)
class InstallationHealth:
    """One installation by its state and its policy; `mode` is None if neither shows it."""

    name: str
    cluster: str
    mode: Mode | None
    paused_for: str
    troubles: tuple[tuple[Trouble, str], ...]
    status: InstallationStatus
    saved_nodes: int
    saved: int
    """Micro-dollars per hour that drains still save, as `ebb history` shows it."""
    policy: Policy | None = None

    @property
    def is_failing(self) -> bool:
        return bool(self.troubles)

    @property
    def in_words(self) -> str:
        """Return `dry run, failing`."""
        mode = self.mode.in_words if self.mode else ""
        return ", ".join(part for part in (mode, "failing" if self.is_failing else "") if part)


@dataclass(frozen=True, slots=True)
class InstallationResult:
    """What became of one installation: how it is, or why that could not be read."""

    source: InstallationSource
    health: InstallationHealth | None = None
    faults: tuple[str, ...] = ()


Ask = Callable[[InstallationSource], InstallationHealth]


def read_installations(sources: Iterable[InstallationSource], ask: Ask) -> Iterator[InstallationResult]:
    """Yield what became of each in the order given; they are asked at the same time."""
    with ThreadPoolExecutor(MOST_AT_ONCE) as threads:
        yield from threads.map(lambda source: _ask_installation(source, ask), sources)


def _ask_installation(source: InstallationSource, ask: Ask) -> InstallationResult:
    if source.fault:
        return InstallationResult(source, faults=tuple(source.fault.splitlines()))
    try:
        return InstallationResult(source, ask(source))
    except EbbError as failure:
        return InstallationResult(source, faults=tuple(message_of(failure).splitlines()))


def ask_installation(source: InstallationSource) -> InstallationHealth:
    """Read state and policy of one installation.

    Raises:
        BadSettings: a variable of its profile is missing or wrong.
        Retryable, Terminal: its state cannot be read.
    """
    settings = read_settings(source.environment)
    state, _, now = read_cluster(state_of(settings))
    status = status_of(settings.cluster, state, {}, {}, now, timedelta(seconds=settings.interval_seconds))
    try:
        policy: Policy | EbbError = policy_of(settings).read()
    except EbbError as failure:
        policy = failure
    return health_of(source.name, status, policy, status.saved_nodes, status.saved)


def health_of(
    name: str, status: InstallationStatus, policy: Policy | EbbError, saved_nodes: int = 0, saved: int = 0
) -> InstallationHealth:
    """Return how an installation is; instead of a policy there may be the failure to read it."""
    known = policy if isinstance(policy, Policy) else None
    return InstallationHealth(
        name=name,
        cluster=status.cluster,
        mode=_mode(status, known),
        paused_for=status.pause_reason if status.paused else "",
        troubles=tuple(_troubles(status, policy)),
        status=status,
        saved_nodes=saved_nodes,
        saved=saved,
        policy=known,
    )


def _mode(status: InstallationStatus, policy: Policy | None) -> Mode | None:
    if status.paused or (policy and policy.paused):
        return Mode.PAUSED
    if policy is None:
        return None
    return Mode.DRY_RUN if policy.dry_run else Mode.LIVE


def _troubles(status: InstallationStatus, policy: Policy | EbbError) -> Iterator[tuple[Trouble, str]]:
    for warning in status.warnings:
        yield Trouble.NO_PASS, warning
    if isinstance(policy, EbbError):
        first, *more = policy.faults if isinstance(policy, BadInput) else str(policy).splitlines()
        yield Trouble.POLICY, f"The policy cannot be used: {first}{f' ({len(more)} more)' if more else ''}"
    for pool, breaker in status.breakers:
        until = _until(breaker.until, status.now)
        yield Trouble.BREAKER, f"No drain starts in {pool or 'nodes without a pool'} until {until}: {breaker.why}"
    if status.backoffs:
        nodes = some([f"{backoff.node} ({backoff.why})" for _, backoff in status.backoffs])
        left = f"{count(len(status.backoffs), 'node')} {'is' if len(status.backoffs) == 1 else 'are'} left alone"
        yield (
            Trouble.BACKOFFS,
            f"{left} after failed drains, the first until {_until(status.backoffs[0][1].until, status.now)}: {nodes}",
        )


def _until(time: datetime, now: datetime) -> str:
    return f"{clock(time, now)} UTC"
