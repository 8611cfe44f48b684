"""`ebb policy check`: every fault of a policy file, or the settings that hold for each pool, with warnings."""

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
from shared.core.policy import Policy, PoolPolicy
from shared.core.policy.warnings import warnings
from shared.core.rules.nodes import has_expired

SettingsInWords = tuple[tuple[str, str], ...]
_UNHEARD: Final = (
    "defaults.enabled: defaults hold only for pools that nodePools names; "
    "write nodePools: {default-pool: {enabled: true}}."
)


def print_check(path: Path, sources: Sources) -> None:
    """Print what a policy file amounts to, and what is odd for a cluster. BadPolicy: every fault of the file."""
    policy, prices = read_policy(path), load(OWN_TABLE)
    snapshot = gather(sources, policy).snapshot if sources.has_cluster else None
    unheard = _UNHEARD if policy.defaults_enable and not policy.pools else ""
    odd = odd_policy(policy, snapshot, prices) if snapshot else (unpriced_families(policy.commitments, prices),)
    with printing() as console:
        show(console, name_of(path), policy, tuple(filter(None, (unheard, *odd, *expiring(policy, snapshot)))))


def show(console: Console, name: str, policy: Policy, more: tuple[str, ...] = ()) -> None:
    """Print the settings in force, equal pools together; `more` are warnings besides those of the settings."""
    console.print(f"{name} is valid: {count(len(policy.pools), 'pool')}, hash {policy.hash or 'none'}")
    for title, settings in (("cluster", tuple(cluster_settings(policy).items())), *_pools(policy)):
        console.print()
        console.print(title, style="bold")
        console.print(facts(settings))
    found = (*warnings(policy), *more)
    if found:
        console.print()
    for warning in found:
        console.print(f"warning: {warning}", style="yellow")


def _pools(policy: Policy) -> list[tuple[str, SettingsInWords]]:
    names = group((_settings(pool), name) for name, pool in sorted(policy.pools.items()))
    named = [(f"pool{'s' if len(pools) > 1 else ''} {', '.join(pools)}", settings) for settings, pools in names.items()]
    others = policy.other_pools
    return [*named, ("every other pool", _settings(others))] if others.enabled else named


def _settings(pool: PoolPolicy) -> SettingsInWords:
    return tuple(pool_settings(pool).items())


def expiring(policy: Policy, snapshot: Snapshot | None) -> tuple[str, ...]:
    """Return a sentence for each enabled pool whose nodes expire: how many have, if there is a cluster to look at."""
    pools = {name: pool for name, pool in policy.pools.items() if pool.enabled and pool.expire_after is not None}
    found = []
    for name, pool in pools.items():
        detail = "a node of that age goes however full it is; how many are, a cluster or a dump shows (--dump FILE)"
        if snapshot is not None:
            nodes = snapshot.nodes_by_pool.get(name, ())
            old = sum(has_expired(node, pool, snapshot.taken_at) for node in nodes)
            detail = f"{old:,} of {len(nodes):,} nodes are of that age, and go however full they are"
        found.append(f"nodePools.{name}.disruption.expireAfter: {detail}.")
    return tuple(found)
