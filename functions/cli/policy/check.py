"""`ebb policy check`: every fault of a policy file, or the settings that hold for each pool, with warnings."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from rich.console import Console

from functions.cli.dumps.files import name_of
from functions.cli.input.files import read_policy
from functions.cli.input.inputs import gather, odd_policy
from functions.cli.input.options import Sources
from functions.cli.output.format import count, group
from functions.cli.output.terminal import facts, printing
from functions.cli.policy.words import cluster_settings, pool_settings
from shared.adapters.prices import OWN_TABLE, load
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.bill import unpriced_families
from shared.core.planning.policy_advice import expiring
from shared.core.policy import Policy, PoolPolicy
from shared.core.policy.warnings import warnings
from shared.errors import BadInput, BadPolicy

SettingsInWords = tuple[tuple[str, str], ...]
_UNHEARD: Final = (
    "defaults.enabled: defaults hold only for pools that nodePools names; "
    "write nodePools: {default-pool: {enabled: true}}."
)


def print_check(paths: Sequence[Path], sources: Sources) -> None:
    """Print what each policy file amounts to, and what is odd for a cluster. BadPolicy: every fault of every file."""
    faults: list[str] = []
    snapshot: Snapshot | None = None
    for path in paths:
        try:
            policy = read_policy(path)
        except BadInput as bad:
            if len(paths) == 1:
                raise
            faults += bad.faults
            continue
        if sources.has_cluster and snapshot is None:
            snapshot = gather(sources, policy).snapshot
        _print_one(path, policy, snapshot, whole=len(paths) == 1)
    if faults:
        raise BadPolicy(*faults)


def _print_one(path: Path, policy: Policy, snapshot: Snapshot | None, *, whole: bool) -> None:
    """Print one policy: of several files only whether each is valid, and its warnings."""
    unheard = _UNHEARD if policy.defaults_enable and not policy.pools else ""
    prices = load(OWN_TABLE)
    odd = odd_policy(policy, snapshot, prices) if snapshot else (unpriced_families(policy.commitments, prices),)
    more = tuple(filter(None, (unheard, *odd, *expiring(policy, snapshot))))
    with printing() as console:
        if whole:
            show(console, name_of(path), policy, more)
        else:
            console.print(_head(name_of(path), policy))
            _show_warnings(console, f"{name_of(path)}: ", (*warnings(policy), *more))


def show(console: Console, name: str, policy: Policy, more: tuple[str, ...] = ()) -> None:
    """Print the settings in force, equal pools together; `more` are warnings besides those of the settings."""
    console.print(_head(name, policy))
    console.print()
    console.print("cluster", style="bold")
    console.print(facts(cluster_settings(policy).items()))
    for title, settings in _pools(policy):
        console.print()
        console.print(title, style="bold")
        console.print(facts(settings))
    found = (*warnings(policy), *more)
    if found:
        console.print()
    _show_warnings(console, "", found)


def _head(name: str, policy: Policy) -> str:
    return f"{name} is valid: {count(len(policy.pools), 'pool')}, hash {policy.hash or 'none'}"


def _show_warnings(console: Console, before: str, found: Iterable[str]) -> None:
    for warning in found:
        console.print(f"{before}warning: {warning}", style="yellow")


def _pools(policy: Policy) -> list[tuple[str, SettingsInWords]]:
    names = group((_settings(pool), name) for name, pool in sorted(policy.pools.items()))
    named = [(f"pool{'s' if len(pools) > 1 else ''} {', '.join(pools)}", settings) for settings, pools in names.items()]
    others = policy.other_pools
    return [*named, ("every other pool", _settings(others))] if others.enabled else named


def _settings(pool: PoolPolicy) -> SettingsInWords:
    return tuple(pool_settings(pool).items())
