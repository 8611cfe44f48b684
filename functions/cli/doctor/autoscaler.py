"""Whether the autoscaler only deletes empty nodes, pool by pool, and how soon (docs/empty-nodes.md)."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from functions.cli.analysis.pools import next_to_ebb, pool_rules
from functions.cli.doctor.installation import CheckResult, InstallationParts, ok, warn
from functions.cli.output.format import percent, some, span
from shared.core.cluster.autoscaling import BALANCED, ComputeClasses, SaidBy, ScaleDownRule
from shared.core.cluster.snapshot import Snapshot
from shared.core.policy import Policy
from shared.errors import EbbError
from shared.port_types import ClusterReading
from shared.store.snapshots import snapshot_of

NAME: Final = "autoscaler"
LONG: Final = BALANCED.unneeded
"""Above GKE's own longest default, an empty node costs money for nothing."""
_CHECK: Final = "not yet seen on a real GKE, so check it once: docs/empty-nodes.md, five minutes"


def autoscaler(parts: InstallationParts) -> Iterable[CheckResult]:
    snapshot = _snapshot(parts)
    rules = pool_rules(snapshot)
    if not rules:
        yield ok(NAME, "No pool with nodes is autoscaled now.")
    for rule in dict.fromkeys(rules.values()):
        yield _of_pools(_pools([name for name, other in rules.items() if other == rule]), rule)
    yield from _faults(snapshot.compute_classes, {rule.compute_class for rule in rules.values()})
    yield from _nobody_empties(parts, {name: rule for name, rule in rules.items() if rule.only_empty})


def _snapshot(parts: InstallationParts) -> Snapshot:
    cluster, now = parts.cluster(), parts.now()
    reading = ClusterReading(cluster.all_nodes(), (), (), {}, compute_classes=cluster.buffers()[1])
    return snapshot_of(parts.settings.cluster, reading, parts.pools(), now, now)


def _of_pools(pools: str, rule: ScaleDownRule) -> CheckResult:
    if not rule.class_known:
        sentence = (
            f"{pools}: ComputeClass {rule.compute_class} is not there or may not be listed: the profile is assumed."
        )
        return warn(NAME, sentence, "Make the class, or let this identity list computeclasses (infra/rbac.yaml).")
    delay = f"after {span(rule.unneeded)} ({_whose(rule.unneeded_by, rule)})"
    gate = f"{percent(rule.gate)} ({_whose(rule.gate_by, rule)})"
    if rule.only_empty:
        what = f"the autoscaler only deletes empty nodes, {delay}; {_CHECK}"
    else:
        used = f"used up to {gate} without DaemonSets, {delay}"
        what = f"the autoscaler also empties nodes that are {used}, and {next_to_ebb(rule)}"
    if rule.unneeded > LONG:
        where = (
            "consolidationDelayMinutes"
            if rule.unneeded_by is SaidBy.COMPUTE_CLASS
            else "the pool's consolidation delay"
        )
        return warn(NAME, f"{pools}: {what}.", f"Until then each empty node costs money: shorten {where}, to a minute.")
    return ok(NAME, f"{pools}: {what}.")


def _whose(said_by: SaidBy, rule: ScaleDownRule) -> str:
    if said_by is SaidBy.COMPUTE_CLASS:
        return f"ComputeClass {rule.compute_class}"
    return f"profile {rule.profile}" if said_by is SaidBy.PROFILE else "the pool"


def _faults(classes: ComputeClasses, used: Iterable[str]) -> Iterator[CheckResult]:
    for name in sorted(set(used) & classes.found.keys()):
        for fault in classes.found[name].faults:
            yield warn(NAME, f"ComputeClass {name}: {fault}", "Correct its spec.autoscalingPolicy.")


def _nobody_empties(parts: InstallationParts, unattended: Mapping[str, ScaleDownRule]) -> Iterator[CheckResult]:
    """A pool of which the autoscaler deletes only empty nodes stays as large as it is if Ebb does not drain it."""
    try:
        policy = parts.policy().read() if unattended else Policy()
    except EbbError:
        return  # the check of the policy shows it
    why = "is paused" if policy.paused else "is a dry run" if policy.dry_run else "does not enable it"
    left = [name for name in unattended if policy.paused or policy.dry_run or not policy.pool(name).enabled]
    if left:
        sentence = f"{_pools(left)}: the policy {why}: nothing scales down but nodes that empty by themselves."
        classes = some(sorted({unattended[name].compute_class for name in left}))
        yield warn(
            NAME, sentence, f"Until Ebb drains there, take consolidationThreshold out of ComputeClass {classes}."
        )


def _pools(names: list[str]) -> str:
    return f"Pool{'s' if len(names) > 1 else ''} {some(sorted(names))}"
