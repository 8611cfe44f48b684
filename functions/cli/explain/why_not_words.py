"""How a person makes each change of `ebb why-not`, and the sentences about its effect."""

from collections import Counter
from collections.abc import Mapping, Sequence
from string import Template
from typing import Final

from functions.cli.analysis.exclusions import Exclusion
from functions.cli.analysis.lifting import Scope, Subject
from functions.cli.analysis.lifts import GAP_INSTEAD, LIFTS
from functions.cli.analysis.what_if import Freed, Held, WhyNot
from functions.cli.output.format import count, monthly, some, whole_money
from functions.cli.plan.ladder import month_beside
from shared.core.cluster import names
from shared.core.planning.plan import NodeDecision
from shared.core.reasons import PodBlock, Reason, Unremovable

_PATCH: Final = "kubectl -n $namespace patch $kind $name --type merge -p "
_PATCHED: Final = frozenset({"deployment", "statefulset", "replicaset", "replicationcontroller", "rollout"})
"""Kinds whose template can be changed as they stand; that of a Job cannot."""
_OF_NEW_PODS: Final = "  # for pods that it makes from then on"
_UPDATE: Final = "gcloud container node-pools update $name --cluster CLUSTER --location LOCATION "


def _annotations(text: str) -> str:
    """Return the command that changes annotations of a workload's template."""
    return _PATCH + f'\'{{"spec":{{"template":{{"metadata":{{"annotations":{{{text}}}}}}}}}}}\''


def _template(field: str) -> str:
    return _PATCH + f'\'{{"spec":{{"template":{{"spec":{{{field}}}}}}}}}\''


def _pool(line: str) -> str:
    return f"policy: nodePools: {{$name: {{{line}}}}}"


HOW: Final[Mapping[Reason, str]] = {
    PodBlock.NOT_SAFE_TO_EVICT: _annotations(f'"{names.SAFE_TO_EVICT}":null'),
    PodBlock.DO_NOT_DISRUPT: _annotations('"ANNOTATION":null') + "  # the annotation that ebb explain names",
    PodBlock.NAMESPACE_CLOSED: f"kubectl label namespace $name {names.EVICTIONS_LABEL}-",
    PodBlock.NOT_REPLICATED: "run $object under a Deployment or StatefulSet",
    PodBlock.LOCAL_STORAGE: _annotations(f'"{names.SAFE_TO_EVICT}":"true"') + "  # if the data may be lost",
    PodBlock.KUBE_SYSTEM: _pool("kubeSystemPods: evict"),
    PodBlock.PDB_EXHAUSTED: "one more healthy replica behind PodDisruptionBudget $object, so that it allows one to go",
    PodBlock.PDB_NEVER_ALLOWS: "one more replica, minAvailable of PodDisruptionBudget $object as many as now stay up",
    PodBlock.SEVERAL_PDBS: "kubectl -n $namespace delete pdb $name",
    PodBlock.SINGLE_REPLICA: _pool("singleReplicas: move"),
    **dict.fromkeys(GAP_INSTEAD, _pool("singleReplicas: move") + "  # which makes a gap; better: two replicas"),
    PodBlock.JOB: _pool("jobs: move"),
    PodBlock.JOB_RUNNING: _pool("jobs: move") + "  # its work so far is lost; else it ends by itself",
    PodBlock.TOO_FEW_AVAILABLE: _pool("unprotected: 100%") + "  # better: mend the replicas that are away",
    PodBlock.GRACE_TOO_LONG: _pool("longGrace: cut"),
    PodBlock.TOLERATES_DRAIN_TAINT: _template('"tolerations":[…]') + "  # name the taints that it shall tolerate",
    PodBlock.NAMES_ITS_NODE: _template('"nodeSelector":null,"affinity":{"nodeAffinity":null}'),
    PodBlock.SCHEDULING_GATES: _template('"schedulingGates":null'),
    Exclusion.SELECTOR: _template('"nodeSelector":null,"affinity":{"nodeAffinity":null}'),
    Exclusion.ANTI_AFFINITY: _template('"affinity":{"podAntiAffinity":null}') + "  # or preferred instead of required",
    Exclusion.AFFINITY: _template('"affinity":{"podAffinity":null}') + "  # or preferred instead of required",
    Exclusion.HOST_PORT: "a Service instead of hostPort in $object",
    Exclusion.SPREAD: "$object: topologySpreadConstraints: whenUnsatisfiable: ScheduleAnyway, or one more replica",
    Exclusion.ROOM: "policy: defaults: {headroom: 0%}  # leaves pods Pending more often (docs/decisions/robust-fit.md)",
    Unremovable.POOL_DISABLED: _pool("enabled: true"),
    Unremovable.NOT_AUTOSCALED: _UPDATE + "--enable-autoscaling --min-nodes 0 --max-nodes MAX",
    Unremovable.POOL_AT_MINIMUM: _UPDATE + "--enable-autoscaling --min-nodes 0",
    Unremovable.RESOURCE_MINIMUM: "gcloud container clusters update CLUSTER --min-cpu 1 --min-memory 1",
    Unremovable.CORDONED_BY_OTHER: "kubectl uncordon $name",
    Unremovable.TAINTED: _pool("ignoreTaints: [$detail]"),
    Unremovable.SCALE_DOWN_DISABLED: f"kubectl annotate node $name {names.SCALE_DOWN_DISABLED}-",
    Unremovable.NOT_EMPTY: _pool("disruption: {consolidationPolicy: WhenUnderutilized}"),
    Unremovable.CPU_ABOVE_LIMIT: _pool("scaleDownCPURequestRatioLimit: 1"),
    Unremovable.MEMORY_ABOVE_LIMIT: _pool("scaleDownMemoryRequestRatioLimit: 1"),
    Unremovable.ACCELERATOR_ABOVE_LIMIT: _pool("scaleDownCPURequestRatioLimit: 1"),
    Unremovable.CONSOLIDATION_OFF: _pool("disruption: {consolidateAfter: 5m}"),
    Unremovable.TOO_FEW_UNDERUTILIZED: _pool("scaleDownRequiredUnderutilizedNodeCount: 1"),
    Unremovable.NO_EXCESS: _pool("excessNodesThreshold: 0"),
    Unremovable.PAUSED: "policy: paused: false",
    Unremovable.MINIMUM_NODES: "policy: cluster: {minimumNodes: 0}",
    Unremovable.MINIMUM_NON_TAINTED: "policy: cluster: {minimumNonTaintedNodes: 0}",
    Unremovable.SAVING_TOO_SMALL: _pool("minimumSavingPerEviction: 0"),
}


def how(subject: Subject) -> str:
    """Return the command or line that makes the change."""
    namespace, kind, name = _parts(subject)
    given = {"namespace": namespace, "kind": kind, "name": name, "object": subject.object, "detail": subject.detail}
    return Template(_written(HOW[subject.reason], kind)).safe_substitute(given)


def _written(text: str, kind: str) -> str:
    """Return the command, or the change of the template alone where no command can make it, and what it takes."""
    if not text.startswith(_PATCH):
        return text
    if kind not in _PATCHED:
        return f"in the pod template from which $object is made: {text.removeprefix(_PATCH)}"
    return f"{text}{_OF_NEW_PODS if kind == 'replicaset' else ''}"


def _parts(subject: Subject) -> tuple[str, str, str]:
    """Return namespace, kind and name of what is changed, as far as it has them."""
    parts = subject.object.split("/")
    if LIFTS[subject.reason].scope is Scope.WORKLOAD:
        namespace, *kinds, name = parts
        return namespace, (kinds[0] if kinds else "pod").lower(), name
    return (parts[0], "", parts[-1]) if len(parts) > 1 else ("", "", subject.object)


_BY_POD: Final = Unremovable.BLOCKED_BY_POD.value
_WORDS: Final[Mapping[Reason, str]] = {Exclusion.ROOM: "headroom"}
_SENTENCES: Final[Mapping[Reason, str]] = {
    Exclusion.ROOM: "The share of each remaining node that the policy keeps free.",
}
"""What a change is called where the reason speaks of a single node."""
AT_LEAST: Final = "What ends in + was followed for a number of rounds only: it frees at least so much."
FREES: Final = "Each of these changes alone, planned anew from there until nothing more goes, frees:"
NOTHING: Final = "No single change that was tried would free more."


def freeing(found: WhyNot) -> list[Freed]:
    """Return the changes that free money, the most first."""
    return [each for each in found.freed if each.saving]


def is_whole(freed: Sequence[Freed]) -> bool:
    """Whether all were followed until nothing more goes."""
    return all(each.is_rest for each in freed)


def base(found: WhyNot, whose: str) -> str:
    """Return what is there now, and what the policy comes to: the rung of the ladder."""
    nodes, left, prices = found.base.situation.snapshot.nodes, found.base.rest.snapshot.nodes, found.base.prices
    now, rest = prices.of_all(nodes), prices.of_all(left)
    month = whole_money(month_beside(now, rest), of=rest)
    return (
        f"{count(len(nodes), 'node')} for {monthly(now)} a month now; {whose} at rest: "
        f"{count(len(left), 'node')} for {month}, as in the ladder of ebb plan."
    )


def others(found: WhyNot) -> Sequence[str]:
    """Return a sentence for each group of changes that are not in the table, with the most that one of them holds."""
    idle = [each.held for each in found.freed if not each.saving]
    rows = (
        (idle, "{changes} tried would free nothing alone: {names}."),
        (found.hopeless, "{changes} cannot free anything, by the bound: {names}."),
        (
            found.passing,
            (
                f"{{changes}} not tried, for none would free a node alone: at rest {_kept_too(found)} these, too "
                "(of {most} a month at most): {names}."
            ),
        ),
        (found.left, "{changes} not tried, each on nodes of {most} a month at most (--top N tries more): {names}."),
    )
    return [_told(text, held) for held, text in rows if held]


def _kept_too(found: WhyNot) -> str:
    """Return what else is by then in the way of the nodes that are not tried, as far as they are still there.

    Not what the change itself would take away, nor that a pod blocks: the pod's own word says that.
    """
    decisions = {each.name: each for each in found.base.decisions}
    words: Counter[str] = Counter()
    for held in found.passing:
        for name in sorted(decisions.keys() & set(held.nodes)):
            words.update(sorted(_reasons(decisions[name]) - {held.subject.reason.value, _BY_POD}))
    named = some([word for word, _ in words.most_common()], 4)
    return f"{named} keep{'s' if len(words) == 1 else ''}" if words else "something else keeps"


def _reasons(decision: NodeDecision) -> set[str]:
    return {decision.reason, *(each.reason.value for each in decision.blockers)}


def _told(text: str, held: Sequence[Held]) -> str:
    most = monthly(max(each.cost for each in held))
    return text.format(changes=count(len(held), "change"), names=_names(held), most=most)


def frees(freed: Freed) -> str:
    """Return the money of a change; a + where it is the least of it."""
    return f"{monthly(freed.saving)}{'' if freed.is_rest else '+'}"


def meaning(subject: Subject) -> str:
    return _SENTENCES.get(subject.reason, subject.reason.sentence)


def named(subject: Subject) -> str:
    word = _WORDS.get(subject.reason, subject.reason.value)
    return " ".join(filter(None, (word, subject.object, subject.detail)))


def _names(held: Sequence[Held]) -> str:
    return some([named(each.subject) for each in held], 4)
