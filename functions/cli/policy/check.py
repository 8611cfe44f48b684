"""`ebb policy check`: every fault of a policy file, or the settings that hold for each pool, with warnings."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from functions.cli.dumps.files import name_of
from functions.cli.input.commitments import ended_commitments
from functions.cli.input.files import parse_policy, read_bytes
from functions.cli.input.inputs import gather, odd_pools
from functions.cli.input.options import Sources
from functions.cli.output.format import count
from functions.cli.output.terminal import facts, printing
from functions.cli.policy.words import cluster_settings, pool_settings
from shared.adapters.prices import OWN_TABLE, load
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.bill import unpriced_families
from shared.core.planning.policy_advice import expiring
from shared.core.policy import Policy, PoolPolicy
from shared.core.policy.field import path_text
from shared.core.policy.reading import read
from shared.core.policy.warnings import warnings
from shared.errors import BadInput, BadPolicy

SettingsInWords = tuple[tuple[str, str], ...]


def print_check(paths: Sequence[Path], sources: Sources) -> None:
    """Print what each policy file amounts to, and what is odd for a cluster. BadPolicy: every fault of every file."""
    faults: list[str] = []
    snapshot: Snapshot | None = None
    for path in paths:
        try:
            data = read_bytes(path)
            policy = parse_policy(path, data)
        except BadInput as bad:
            if len(paths) == 1:
                raise
            faults += bad.faults
            continue
        if sources.has_cluster and snapshot is None:
            snapshot = gather(sources, policy).snapshot
        _print_one(path, data, policy, snapshot, whole=len(paths) == 1)
    if faults:
        raise BadPolicy(*faults)


def _print_one(path: Path, data: bytes, policy: Policy, snapshot: Snapshot | None, *, whole: bool) -> None:
    """Print one policy: of several files only whether each is valid, and its warnings."""
    strange = odd_pools(policy, snapshot) if snapshot else ()
    over = ended_commitments(policy.commitments, snapshot.taken_at) if snapshot else ""
    paid = filter(None, (unpriced_families(policy.commitments, load(OWN_TABLE)), over))
    more = (*written_warnings(data), *strange, *paid, *expiring(policy, snapshot))
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
    names: dict[SettingsInWords, list[str]] = {}
    for name, pool in sorted(policy.pools.items()):
        names.setdefault(_settings(pool), []).append(name)
    named = [(f"pool{'s' if len(pools) > 1 else ''} {', '.join(pools)}", settings) for settings, pools in names.items()]
    others = policy.other_pools
    return [*named, ("every other pool", _settings(others))] if others.enabled else named


def _settings(pool: PoolPolicy) -> SettingsInWords:
    return tuple(pool_settings(pool).items())


def written_warnings(data: bytes) -> tuple[str, ...]:
    """Return what a person should know of how a valid document is written, one sentence each, with its path."""
    written = read(data)
    holders: dict[tuple[str, ...], Any] = {("cluster",): written.get("cluster"), ("defaults",): written.get("defaults")}
    holders |= {("nodePools", name): pool for name, pool in (written.get("nodePools") or {}).items()}
    reasons = (sentence for path, holder in holders.items() for sentence in _empty_reasons(path, holder))
    return (*_unheard_defaults(written), *reasons)


def _unheard_defaults(written: Mapping[str, Any]) -> Iterator[str]:
    defaults = written.get("defaults")
    if isinstance(defaults, Mapping) and defaults.get("enabled") is True and not written.get("nodePools"):
        yield (
            "defaults.enabled: defaults hold only for pools that nodePools names; "
            "write nodePools: {default-pool: {enabled: true}}."
        )


def _empty_reasons(path: tuple[str, ...], holder: Any) -> Iterator[str]:
    """Karpenter's API takes an empty list for all reasons; a person may have meant none."""
    block = holder.get("disruption") if isinstance(holder, Mapping) else None
    rows = block.get("budgets") if isinstance(block, Mapping) else None
    for index, budget in enumerate(rows if isinstance(rows, list) else ()):
        if budget.get("reasons") == []:
            where = path_text((*path, "disruption", "budgets", index, "reasons"))
            yield f"{where}: the list is empty, which means every reason; leave it out, or name those that it binds."
