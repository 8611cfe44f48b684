"""`ebb policy check`: every fault of a policy file, or the settings that hold for each pool, with warnings.

Must not parse: `shared.core.policy.parsing` does, and its faults reach the user as they are.
"""

from pathlib import Path

from rich.console import Console
from rich.table import Table

from functions.cli.format import count
from functions.cli.inputs import Sources, gather, name_of, parsed, read_bytes
from functions.cli.policy.as_written import as_written
from functions.cli.policy.words import cluster_settings, pool_settings
from functions.cli.terminal import printing
from shared.core.planning.unknown_pools import unknown_pools
from shared.core.policy import Policy, PoolPolicy
from shared.core.policy.warnings import warnings
from shared.core.rules.expiry import expiring


def run(path: Path, sources: Sources) -> None:
    """Print what a policy file amounts to, with what is odd about it beside the cluster or the dump that was named.

    Raises:
        BadInput: the file cannot be read, or both a dump and a kubeconfig were named.
        BadPolicy: with every fault.
        Retryable, Terminal: the cluster that was named cannot be read.
    """
    data = read_bytes(path)
    policy = parsed(path, data)
    inputs = gather(sources, policy) if sources.named else None
    with printing() as console:
        strange = unknown_pools(policy, inputs.snapshot).values() if inputs else ()
        old = expiring(policy, inputs.snapshot if inputs else None)
        show(console, name_of(path), policy, (*as_written(data), *strange, *old))


def show(console: Console, name: str, policy: Policy, more: tuple[str, ...] = ()) -> None:
    """Print the effective settings: the cluster's, then each pool's; pools with the same settings stand together.

    `more` are warnings beside those that the settings themselves give.
    """
    console.print(f"{name} is valid: {count(len(policy.pools), 'pool')}, hash {policy.hash or 'none'}")
    console.print()
    console.print(_settings("cluster", cluster_settings(policy)))
    for title, pool in _pools(policy):
        console.print()
        console.print(_settings(title, pool_settings(pool)))
    found = (*warnings(policy), *more)
    if found:
        console.print()
    for warning in found:
        console.print(f"warning: {warning}", style="yellow")


def _pools(policy: Policy) -> list[tuple[str, PoolPolicy]]:
    names: dict[PoolPolicy, list[str]] = {}
    for name, pool in sorted(policy.pools.items()):
        names.setdefault(pool, []).append(name)
    named = [(f"{'pool' if len(each) == 1 else 'pools'} {', '.join(each)}", pool) for pool, each in names.items()]
    return [*named, ("every other pool", policy.other_pools)] if policy.other_pools.enabled else named


def _settings(title: str, rows: dict[str, str]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column()
    for name, value in rows.items():
        table.add_row(name, value)
    return table
