"""`ebb policy check`: every fault of a policy file, or the settings that hold for each pool, with warnings.

Must not parse: `policy_document` does, and its faults reach the user as they are.
"""

from pathlib import Path

from rich.console import Console
from rich.table import Table

from functions.cli.sources import read_policy
from functions.cli.terminal import printing
from functions.cli.words import count, moment, span
from shared.core.policy import WATCHDOGS, Budget, Freeze, Policy, PoolPolicy, Rate, Schedule
from shared.core.policy_document import warnings


def run(path: Path) -> None:
    """Print what a policy file amounts to.

    Raises:
        BadInput: the file cannot be read.
        BadPolicy: with every fault.
    """
    policy = read_policy(path)
    with printing() as console:
        show(console, path.name, policy)


def show(console: Console, name: str, policy: Policy) -> None:
    """Print the effective settings: the cluster's, then each pool's; pools with the same settings stand together."""
    console.print(f"{name} is valid: {count(len(policy.pools), 'pool')}, hash {policy.hash or 'none'}")
    console.print()
    console.print(_settings("cluster", cluster_settings(policy)))
    for title, pool in _pools(policy):
        console.print()
        console.print(_settings(title, pool_settings(pool)))
    found = warnings(policy)
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


def cluster_settings(policy: Policy) -> dict[str, str]:
    """Return the cluster's effective settings by the name that the policy gives them."""
    drain = policy.drain
    return {
        "dryRun": _yes(policy.dry_run),
        "paused": _yes(policy.paused),
        "minimumNodes": str(policy.minimum_nodes),
        "minimumNonTaintedNodes": str(policy.minimum_non_tainted_nodes),
        "timeSinceLastAddition": span(policy.time_since_last_addition),
        "timeGap": span(policy.time_gap),
        "disruption.budgets": budgets(policy.budgets),
        "rate": rate_words(policy.rate),
        "freezes": ", ".join(map(_freeze, policy.freezes)) or "none",
        "drain.maxGracePeriod": span(drain.max_grace),
        "drain.timeout": span(drain.timeout),
        "drain.watchdog": _watchdog(policy),
        "drain.pendingGrace": span(drain.pending_grace),
        "drain.backoff": f"{span(drain.backoff_first)}, doubling to {span(drain.backoff_most)}",
        "drain.maxParallelEvictions": str(drain.max_parallel_evictions),
        "manual.mayIgnore": ", ".join(sorted(policy.manual_may_ignore)) or "nothing",
    }


def pool_settings(pool: PoolPolicy) -> dict[str, str]:
    """Return one pool's effective settings by the name that the policy gives them."""
    addition = pool.time_since_last_addition
    return {
        "enabled": _yes(pool.enabled),
        "scaleDownCPURequestRatioLimit": f"{float(pool.cpu_limit):g}",
        "scaleDownMemoryRequestRatioLimit": f"{float(pool.memory_limit):g}",
        "scaleDownRequiredUnderutilizedNodeCount": str(pool.required_count),
        "minimumNodeAge": span(pool.minimum_node_age),
        "excessNodesThreshold": f"{float(pool.excess_threshold):g}",
        "maxNodesPerPass": str(pool.max_nodes_per_pass),
        "headroom": f"{pool.headroom_percent}%",
        "kubeSystemPods": pool.kube_system_pods.value,
        "localStorage": pool.local_storage.value,
        "unprotected": str(pool.unprotected),
        "ignoreTaints": ", ".join(sorted(pool.ignore_taints)) or "none",
        "timeSinceLastAddition": "the cluster's" if addition is None else span(addition),
        "disruption.consolidationPolicy": pool.consolidation_policy.value,
        "disruption.consolidateAfter": span(pool.consolidate_after),
        "disruption.expireAfter": span(pool.expire_after),
        "disruption.budgets": budgets(pool.budgets),
        "disruption.windows": "always" if pool.windows is None else _windows(pool.windows),
        "rate": rate_words(pool.rate),
    }


def budgets(given: tuple[Budget, ...]) -> str:
    """Return budgets in words, the way they limit: `10% always; 0 at 0 9 * * mon-fri for 8h (UTC)`."""
    return "; ".join(map(_budget, given)) or "no limit"


def _budget(budget: Budget) -> str:
    when = "always" if budget.schedule is None else _schedule(budget.schedule)
    reasons = f" for {', '.join(sorted(budget.reasons))}" if budget.reasons else ""
    return f"{budget.nodes} {when}{reasons}"


def _schedule(schedule: Schedule) -> str:
    return f'"{schedule.cron}" for {span(schedule.duration)} ({schedule.time_zone})'


def _windows(given: tuple[Schedule, ...]) -> str:
    return "; ".join(map(_schedule, given)) or "never"


def _watchdog(policy: Policy) -> str:
    """Return the watchdog, and what it is in each profile for which it is another."""
    usual = policy.drain_for("BALANCED").watchdog
    others = {name: policy.drain_for(name).watchdog for name in WATCHDOGS}
    said = [f", {span(time)} in the {name} profile" for name, time in sorted(others.items()) if time != usual]
    return f"{span(usual)}{''.join(said)}"


def rate_words(rate: Rate | None) -> str:
    """Return a rate the way it limits: `20% in any 1h`."""
    return "no limit" if rate is None else f"{rate.nodes} in any {span(rate.per)}"


def _freeze(freeze: Freeze) -> str:
    return f"{moment(freeze.start)} to {moment(freeze.end)}"


def _yes(value: bool) -> str:
    return "true" if value else "false"
