"""The checks, in the order in which one rests on another (`CHECKS`). An adapter's failure is a finding, too."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Final

import typer

from functions.cli.analysis.pools import next_to_ebb, pool_rules
from functions.cli.doctor.installation import CheckResult, Grade, InstallationParts, fail, ok, warn
from functions.cli.doctor.rights import OPTIONAL_GROUPS, admission_policies, optional_rights, rights, roles
from functions.cli.errors import WRONG, message_of
from functions.cli.output.format import count, percent, some, span
from shared import VERSION
from shared.core.cluster.autoscaling import BALANCED, ComputeClasses, SaidBy, ScaleDownRule
from shared.core.policy import Policy
from shared.core.records.state import silence
from shared.errors import EbbError, Forbidden, Gone
from shared.ports import ClusterReading
from shared.store.snapshots import snapshot_of

MOST_SKEW: Final = timedelta(seconds=30)
"""Ebb takes its time from the state; a machine further off makes tokens and times in reports hard to read."""
_MAY_LIST: Final = (
    "Write commitments = true in Terraform, or grant compute.commitments.list to the planner in the cluster's project. "
    "Nodes count at list prices until then. If you asked as a person, ask as the planner."
)
_APPLY: Final = "Apply the module's output rbac: terraform output -raw rbac | kubectl apply -f -."


def settings(parts: InstallationParts) -> Iterable[CheckResult]:
    """What is missing or wrong of them has ended the command before."""
    settings = parts.settings
    yield ok(
        "settings",
        f"Cluster {settings.cluster}, state {settings.state}, policy {settings.policy}, orders to {settings.topic}.",
    )


def identity(parts: InstallationParts) -> Iterable[CheckResult]:
    if parts.settings.kubeconfig:
        yield ok("identity", f"These checks read the cluster by {parts.settings.kubeconfig}.")
    else:
        yield ok("identity", f"These checks ask as {parts.identity()}.")


def gke(parts: InstallationParts) -> Iterable[CheckResult]:
    """Autopilot and a missing cluster are the adapter's refusals."""
    found = parts.pools()
    if not found.known:
        yield warn("gke", "EBB_GKE_API is none: pools are read from node labels.", "Unset it where there is a GKE API.")
        return
    yield ok("gke", f"{parts.settings.cluster}: {count(len(found.pools), 'pool')}, profile {found.profile}.")
    fixed = sorted(name for name, pool in found.pools.items() if not pool.autoscaled)
    if fixed:
        remedy = "Enable autoscaling on them, or leave them out of the policy."
        yield warn("gke", f"The autoscaler is off for {', '.join(fixed)}: nothing would delete their nodes.", remedy)


def control_plane(parts: InstallationParts) -> Iterable[CheckResult]:
    yield ok("control_plane", f"The control plane answers: {count(len(parts.cluster().all_nodes()), 'node')}.")


def permissions(parts: InstallationParts) -> Iterable[CheckResult]:
    """Ask for every right of infra/rbac.yaml (SelfSubjectAccessReview)."""
    reviews = parts.reviews()
    for function, wanted in rights().items():
        try:
            lacking = [
                str(right)
                for right in wanted  # of what only some clusters have, those that this one has
                if not reviews.may(*right)
                and (right.group not in OPTIONAL_GROUPS or reviews.serves(right.group, right.resource))
            ]
        except Gone:
            yield warn("rbac", "This API server reviews no rights.", "On a simulated GKE there is nothing to do.")
            return
        if lacking:
            yield warn("rbac", f"This identity may not do what the {function} must: {'; '.join(lacking)}.", _AS)
        else:
            yield ok("rbac", f"This identity may do all that the {function} must.")


_AS: Final = (
    "If you ask as a person, ask as the function: gcloud auth application-default login "
    f"--impersonate-service-account=EMAIL. If you do, the rights are missing. {_APPLY}"
)


def admission(parts: InstallationParts) -> Iterable[CheckResult]:
    """Check that the admission policies exist, and that they and the roles are this version's."""
    reviews = parts.reviews()
    try:
        found = admission_policies("admission", "admission.yaml", reviews)
        yield from found.differing
        if found.missing:
            missing = ", ".join(found.missing)
            sentence = f"{missing} missing: a stolen identity of the drainer could do more than drain nodes."
            yield warn("admission", sentence, _APPLY)
        elif not found.differing:
            yield ok("admission", "The admission policies that limit the drainer are as this version ships them.")
        yield from roles("admission", "rbac.yaml", reviews)
    except Forbidden:
        sentence = "This identity may not see whether all admission policies and roles are there, and this version's."
        remedy = "Ask once as a person who may; the functions themselves need no right to."
        yield warn("admission", sentence, remedy)


def state(parts: InstallationParts) -> Iterable[CheckResult]:
    _, version, read_at = parts.remembered()
    seen = "is there" if version else "is empty, as before the first pass"
    yield ok("state", f"The state can be read and {seen}.")
    skew = abs(parts.now() - read_at)
    if skew > MOST_SKEW:
        remedy = "Correct the clock of this machine; the functions' clock is Google's."
        yield warn("clock", f"This machine's clock and the state's differ by {span(skew)}.", remedy)
    else:
        yield ok("clock", "This machine's clock agrees with the state's.")


def topics(parts: InstallationParts) -> Iterable[CheckResult]:
    for topic, granted in parts.topic_rights().items():
        if granted:
            yield ok("topics", f"This identity may publish to {topic}.")
        else:
            remedy = "Grant roles/pubsub.publisher on it to those who order drains; functions have it by the module."
            yield warn("topics", f"This identity may not publish to {topic}.", remedy)


def policy(parts: InstallationParts) -> Iterable[CheckResult]:
    found = parts.policy().read()
    enabled = sorted(name for name, pool in found.pools.items() if pool.enabled)
    if not enabled:
        yield warn("policy", "The policy is valid and enables no pool.", "Write enabled: true for a pool.")
        return
    mode = "paused" if found.paused else "a dry run" if found.dry_run else "live"
    yield ok("policy", f"The policy is valid and {mode}; enabled: {', '.join(enabled)}.")
    unknown = sorted(set(enabled) - parts.pools().pools.keys())
    if unknown:
        yield warn("policy", f"The cluster has no pool {', '.join(unknown)}.", "Correct the names in the policy.")
    yield from optional_rights(found, parts)
    yield from _commitments(found, parts)


def _commitments(policy: Policy, parts: InstallationParts) -> Iterator[CheckResult]:
    """List commitments once if the planner reads them. What the API refuses costs figures and no pass."""
    if not policy.commitments.read:
        return
    try:
        rows = parts.commitments().read()
    except EbbError as fault:
        yield warn("commitments", f"cluster.commitments.read is on, and {message_of(fault)}", _MAY_LIST)
    else:
        listed = count(len(rows), "commitment")
        yield ok("commitments", f"cluster.commitments.read is on, and this identity lists {listed}.")


_AUTOSCALER: Final = "autoscaler"
LONG: Final = BALANCED.unneeded  # Above GKE's own longest default, an empty node costs money for nothing.
_CHECK_ONCE: Final = "not yet seen on a real GKE, so check it once: docs/empty-nodes.md, five minutes"


def autoscaler(parts: InstallationParts) -> Iterable[CheckResult]:
    cluster, now = parts.cluster(), parts.now()
    reading = ClusterReading(cluster.all_nodes(), (), (), {}, compute_classes=cluster.buffers()[1])
    snapshot = snapshot_of(parts.settings.cluster, reading, parts.pools(), now, now)
    rules = pool_rules(snapshot)
    if not rules:
        yield ok(_AUTOSCALER, "No pool with nodes is autoscaled now.")
    for rule in dict.fromkeys(rules.values()):
        yield _of_pools(_name_pools([name for name, other in rules.items() if other == rule]), rule)
    yield from _class_faults(snapshot.compute_classes, {rule.compute_class for rule in rules.values()})
    yield from _nobody_empties(parts, {name: rule for name, rule in rules.items() if rule.only_empty})


def _of_pools(pools: str, rule: ScaleDownRule) -> CheckResult:
    if not rule.class_known:
        sentence = f"ComputeClass {rule.compute_class} is not there or may not be listed: the profile is assumed."
        remedy = "Make the class, or let this identity list computeclasses (infra/rbac.yaml)."
        return warn(_AUTOSCALER, f"{pools}: {sentence}", remedy)
    delay = f"after {span(rule.unneeded)} ({_whose(rule.unneeded_by, rule)})"
    gate = f"{percent(rule.gate)} ({_whose(rule.gate_by, rule)})"
    if rule.only_empty:
        what = f"the autoscaler only deletes empty nodes, {delay}; {_CHECK_ONCE}"
    else:
        used = f"used up to {gate} without DaemonSets, {delay}"
        what = f"the autoscaler also empties nodes that are {used}, and {next_to_ebb(rule)}"
    if rule.unneeded > LONG:
        of_class = rule.unneeded_by is SaidBy.COMPUTE_CLASS
        where = "consolidationDelayMinutes" if of_class else "the pool's consolidation delay"
        remedy = f"Until then each empty node costs money: shorten {where}, to a minute."
        return warn(_AUTOSCALER, f"{pools}: {what}.", remedy)
    return ok(_AUTOSCALER, f"{pools}: {what}.")


def _whose(said_by: SaidBy, rule: ScaleDownRule) -> str:
    if said_by is SaidBy.COMPUTE_CLASS:
        return f"ComputeClass {rule.compute_class}"
    return f"profile {rule.profile}" if said_by is SaidBy.PROFILE else "the pool"


def _class_faults(classes: ComputeClasses, used: Iterable[str]) -> Iterator[CheckResult]:
    for name in sorted(set(used) & classes.found.keys()):
        for fault in classes.found[name].faults:
            yield warn(_AUTOSCALER, f"ComputeClass {name}: {fault}", "Correct its spec.autoscalingPolicy.")


def _nobody_empties(parts: InstallationParts, unattended: Mapping[str, ScaleDownRule]) -> Iterator[CheckResult]:
    """A pool of which the autoscaler deletes only empty nodes stays as large as it is if Ebb does not drain it."""
    try:
        policy = parts.policy().read() if unattended else Policy()
    except EbbError:
        return  # the check of the policy shows it
    why = "is paused" if policy.paused else "is a dry run" if policy.dry_run else "does not enable it"
    left = [name for name in unattended if policy.paused or policy.dry_run or not policy.pool(name).enabled]
    if left:
        sentence = f"{_name_pools(left)}: the policy {why}: nothing scales down but nodes that empty by themselves."
        classes = some(sorted({unattended[name].compute_class for name in left}))
        remedy = f"Until Ebb drains there, take consolidationThreshold out of ComputeClass {classes}."
        yield warn(_AUTOSCALER, sentence, remedy)


def _name_pools(names: list[str]) -> str:
    return f"Pool{'s' if len(names) > 1 else ''} {some(sorted(names))}"


def last_pass(parts: InstallationParts) -> Iterable[CheckResult]:
    found, _, now = parts.remembered()
    look = 'Look at the Cloud Scheduler job, and at the planner\'s log: labels.event="run_summary".'
    if found.last_pass is None:
        yield warn("last_pass", "No pass was ever completed in this state.", look)
        return
    if found.version and found.version != VERSION:
        sentence = f"The last pass was by ebb {found.version}; this is ebb {VERSION}."
        yield warn("version", sentence, "Use the command line of the installation's version, or apply this one.")
    ago = now - found.last_pass
    sentence = f"The last pass was completed {span(ago)} ago."
    late = ago >= silence(timedelta(seconds=parts.settings.interval_seconds))
    yield fail("last_pass", sentence, look) if late else ok("last_pass", sentence)


Check = Callable[[InstallationParts], Iterable[CheckResult]]
CHECKS: Final[tuple[tuple[str, Check], ...]] = (
    ("settings", settings),
    ("identity", identity),
    ("gke", gke),
    ("control_plane", control_plane),
    ("rbac", permissions),
    ("admission", admission),
    ("state", state),
    ("topics", topics),
    ("policy", policy),
    (_AUTOSCALER, autoscaler),
    ("last_pass", last_pass),
)


def examine(parts: InstallationParts) -> Iterator[CheckResult]:
    """Make every check; one that cannot be made is a finding, and the next one is made all the same."""
    met: list[EbbError] = []
    skipped: list[str] = []
    for name, check in CHECKS:
        try:
            yield from check(parts)
        except EbbError as failure:
            # credentials that are missing are missing everywhere: to fix the one fixes the other
            if any(failure is earlier or (failure.everywhere and earlier.everywhere) for earlier in met):
                skipped.append(name)
            else:
                for sentence in message_of(failure).splitlines():
                    yield fail(name, f"{sentence.removesuffix('.')}.", "Fix this, then run ebb doctor again.")
            met.append(failure)
    if skipped:
        yield CheckResult(", ".join(skipped), Grade.SKIP, "They need a check that failed above.")


def show(parts: InstallationParts) -> None:
    """Print each check as it is made; exit with 1 if one of them keeps Ebb from working."""
    marks = {Grade.OK: "ok  ", Grade.WARN: "warn", Grade.FAIL: "FAIL", Grade.SKIP: "skip"}
    grades = []
    for found in examine(parts):
        typer.echo(f"{marks[found.grade]}  {found.check}: {found.sentence}")
        if found.remedy:
            typer.echo(f"      {found.remedy}")
        grades.append(found.grade)
    checked, failed = len(grades) - grades.count(Grade.SKIP), grades.count(Grade.FAIL)
    typer.echo(f"\n{checked} checks: {failed} failed, {grades.count(Grade.WARN)} warnings.")
    if failed:
        raise typer.Exit(WRONG)
