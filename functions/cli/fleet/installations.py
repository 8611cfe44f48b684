"""How the installations of a fleet are: dry run, paused or live, and what fails, as `ebb status` shows it of one."""

from collections.abc import Iterable, Iterator
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

MOST_AT_ONCE: Final = 16  # Each waits for two answers of Google's; more at once meet quotas sooner than they are done.


class Mode(StrEnum):
    LIVE = "live"
    DRY_RUN = "dry_run"
    PAUSED = "paused"


class Trouble(StrEnum):
    """Why an installation does not do what its policy asks for."""

    NO_PASS = "no_pass"  # noqa: S105 - a pass, and no word that opens anything
    BREAKER = "breaker"
    BACKOFFS = "backoffs"
    POLICY = "policy"


@dataclass(frozen=True, slots=True)
class InstallationHealth:
    """One installation by its state, and its policy or the failure to read it."""

    name: str
    status: InstallationStatus
    policy_read: Policy | EbbError

    @property
    def policy(self) -> Policy | None:
        return self.policy_read if isinstance(self.policy_read, Policy) else None

    @property
    def mode(self) -> Mode | None:
        """None if neither state nor policy shows it."""
        if self.status.state.paused or (self.policy and self.policy.paused):
            return Mode.PAUSED
        if self.policy is None:
            return None
        return Mode.DRY_RUN if self.policy.dry_run else Mode.LIVE

    @property
    def paused_for(self) -> str:
        return self.status.state.pause_reason if self.status.state.paused else ""

    @property
    def troubles(self) -> tuple[tuple[Trouble, str], ...]:
        return tuple(_troubles(self.status, self.policy_read))

    @property
    def faults(self) -> tuple[str, ...]:
        paused = (f"Paused: {self.paused_for}",) if self.paused_for else ()
        return (*paused, *(sentence for _, sentence in self.troubles))

    @property
    def in_words(self) -> str:
        mode = self.mode.value.replace("_", " ") if self.mode else ""
        return ", ".join(filter(None, (mode, "failing" if self.troubles else "")))


@dataclass(frozen=True, slots=True)
class InstallationResult:
    source: InstallationSource
    health: InstallationHealth | None = None
    faults: tuple[str, ...] = ()


def read_installations(sources: Iterable[InstallationSource]) -> Iterator[InstallationResult]:
    """Yield what became of each in the order given; they are asked at the same time."""
    with ThreadPoolExecutor(MOST_AT_ONCE) as threads:
        yield from threads.map(_read_installation, sources)


def _read_installation(source: InstallationSource) -> InstallationResult:
    if source.fault:
        return InstallationResult(source, faults=tuple(source.fault.splitlines()))
    try:
        return InstallationResult(source, ask_installation(source))
    except EbbError as failure:
        return InstallationResult(source, faults=tuple(message_of(failure).splitlines()))


def ask_installation(source: InstallationSource) -> InstallationHealth:
    """Read state and policy of one installation. BadSettings: of its profile; Retryable, Terminal: of its state."""
    settings = read_settings(source.environment)
    state, _, now = read_cluster(state_of(settings))
    status = status_of(settings.cluster, state, {}, {}, now, timedelta(seconds=settings.interval_seconds))
    try:
        policy: Policy | EbbError = policy_of(settings).read()
    except EbbError as failure:
        policy = failure
    return InstallationHealth(source.name, status, policy)


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
