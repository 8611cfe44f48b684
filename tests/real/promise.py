"""The promise, judged from the API server's record by the demo's checker and more. Must share no rule with Ebb."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from infra.local.demo import promise
from infra.local.demo.evidence import Evidence, Json, is_ebb, replay
from tests.measured_figures import busiest, sustained
from tests.real.audit_record import Audit, at, by_ebb, granted, is_dry, is_write, uid_asked_for


def breaches(evidence: Evidence, audit: Sequence[Audit], budgets: Sequence[Json]) -> list[str]:
    """Return each breach of the promise as a sentence; a record in which nothing was drained proves nothing."""
    if not promise.drain_starts(evidence) or not promise.evictions(evidence):
        return ["no drain began or no pod was evicted: the record proves nothing"]
    return list(
        chain(
            broken_budgets(evidence, budgets),
            promise.left_without_place(evidence),
            promise.deleted_by_ebb(evidence),
            promise.exceeded_limits(evidence),
            promise.cordons_for_nothing(evidence),
            promise.meddling(evidence),
            _wrong_pods(evidence, audit),
        )
    )


def broken_budgets(evidence: Evidence, budgets: Sequence[Json]) -> Iterator[str]:
    """Count, at each eviction granted to Ebb, the healthy pods that it left of each budget.

    How many have to stay is what Kubernetes' own controller made of the budget.
    """
    for entry, _, cluster in replay(evidence.entries):
        if entry["type"] != "eviction" or not is_ebb(entry["actor"]):
            continue
        name, pod = f"{entry['namespace']}/{entry['name']}", cluster.pods.get(entry["uid"])
        if pod is None:
            yield f"{name}: evicted, but the record knows no such pod"
            continue
        for budget in budgets:
            if _counts(budget, pod):
                left = sum(_counts(budget, other) for other in cluster.pods.values()) - 1
                least, guard = budget["status"]["desiredHealthy"], budget["metadata"]["name"]
                if left < least:
                    yield f"{name}: its eviction left {left} healthy pods, PDB {guard} requires {least}"


def _counts(budget: Json, pod: Json) -> bool:
    """Whether the pod is healthy and one of the budget's."""
    chosen = budget["spec"]["selector"]["matchLabels"].items() <= pod["labels"].items()
    same = pod["namespace"] == budget["metadata"]["namespace"]
    return same and chosen and pod["ready"] and not pod["terminating"]


def _wrong_pods(evidence: Evidence, audit: Sequence[Audit]) -> Iterator[str]:
    changes = [entry for entry in evidence.entries if entry["type"] == "change" and entry["kind"] == "pods"]
    names = {entry["uid"]: entry["name"] for entry in changes}
    evicted = granted(audit)
    for entry in evicted:
        name, uid = entry["objectRef"]["name"], uid_asked_for(entry)
        if names.get(uid) != name:
            yield f"{name} was evicted by the UID {uid or '(none)'}, which is {names.get(uid, 'unknown')}"
    for uid, count in Counter(map(uid_asked_for, evicted)).items():
        if count > 1:
            yield f"{names.get(uid, uid)} was evicted {count} times"


def rates(audit: Sequence[Audit]) -> Iterator[str]:
    """Tell how many writes a second Ebb asked the API server for."""
    ours = by_ebb(audit)
    writes, dry = [at(our) for our in ours if is_write(our)], [at(our) for our in ours if is_dry(our)]
    for what, times in (("writes", writes), ("dry-run evictions", dry), ("both", [*writes, *dry])):
        busy = ", ".join(f"{seconds} s: {sustained(times, seconds):.1f}/s" for seconds in (10, 60))
        yield f"{what}: {len(times)}, peak second {busiest(times, 1)}, busiest {busy}"
