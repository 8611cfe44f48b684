"""`ebb policy check`: every fault of a policy file, or the settings that hold for each pool, with warnings.

Must not parse: `policy_document` does, and its faults reach the user as they are.
"""

from pathlib import Path

from rich.console import Console
from rich.table import Table

from functions.cli.policy_words import cluster_settings, pool_settings
from functions.cli.sources import read_policy
from functions.cli.terminal import printing
from functions.cli.words import count
from shared.core.policy import Policy, PoolPolicy
from shared.core.policy_document import as_written, warnings


def run(path: Path) -> None:
    """Print what a policy file amounts to.

    Raises:
        BadInput: the file cannot be read.
        BadPolicy: with every fault.
    """
    policy = read_policy(path)
    with printing() as console:
        show(console, path.name, policy, as_written(path.read_bytes()))


def show(console: Console, name: str, policy: Policy, written: tuple[str, ...] = ()) -> None:
    """Print the effective settings: the cluster's, then each pool's; pools with the same settings stand together."""
    console.print(f"{name} is valid: {count(len(policy.pools), 'pool')}, hash {policy.hash or 'none'}")
    console.print()
    console.print(_settings("cluster", cluster_settings(policy)))
    for title, pool in _pools(policy):
        console.print()
        console.print(_settings(title, pool_settings(pool)))
    found = (*warnings(policy), *written)
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
