"""The promises about pods: no budget broken, nobody left without a place, nothing deleted by Ebb."""

from collections.abc import Iterator
from typing import Final

from infra.local.demo.promise.evidence import Evidence, Json
from infra.local.demo.promise.replay import is_ebb, last, moments

MOST_UNSCHEDULABLE: Final = 30.0
"""Seconds (docs/decisions/promise.md)."""


def _healthy(pod: Json) -> bool:
    return bool(pod["ready"]) and not pod["terminating"]


def evictions(evidence: Evidence) -> list[Json]:
    """Return the evictions that were granted to Ebb."""
    return [entry for entry in evidence.entries if entry["type"] == "eviction" and is_ebb(entry["actor"])]


def broken_budgets(evidence: Evidence) -> Iterator[str]:
    """Count, at each eviction granted to Ebb, the healthy pods that it left of each budget."""
    for entry, cluster in moments(evidence.entries):
        if entry["type"] != "eviction" or not is_ebb(entry["actor"]):
            continue
        pod = cluster.pods.get(entry["uid"])
        if pod is None:
            yield f"{entry['namespace']}/{entry['name']}: evicted, but the record knows no such pod"
            continue
        for rule in evidence.pdb_rules:
            if not rule.protects(pod) or not _healthy(pod):
                continue
            left = sum(rule.protects(each) and _healthy(each) for each in cluster.pods.values()) - 1
            if left < rule.least:
                asked = f"PDB {rule.namespace}/{rule.name} asks for {rule.least}"
                yield f"{pod['namespace']}/{pod['name']}: its eviction left {left} healthy pods, {asked}"


def left_without_place(evidence: Evidence) -> Iterator[str]:
    """Find replacements of evicted pods that were unschedulable too long, and pods still Pending at the end."""
    moved: set[str] = set()
    since: dict[str, float] = {}
    reported: set[str] = set()
    for entry, cluster in moments(evidence.entries):
        if entry["type"] == "eviction" and is_ebb(entry["actor"]):
            moved.add(cluster.pods[entry["uid"]]["owner"] if entry["uid"] in cluster.pods else "")
        if entry["type"] == "change" and entry["kind"] == "pods":
            _follow(entry, since)
        for uid, began in since.items():
            pod = cluster.pods.get(uid)
            if uid not in reported and pod and pod["owner"] in moved and entry["at"] - began > MOST_UNSCHEDULABLE:
                reported.add(uid)
                yield f"{pod['namespace']}/{pod['name']}: unschedulable for over {MOST_UNSCHEDULABLE:.0f} s"
    for pod in last(evidence.entries).pods.values():
        if pod["phase"] == "Pending":
            yield f"{pod['namespace']}/{pod['name']}: still Pending at the end"


def _follow(entry: Json, since: dict[str, float]) -> None:
    if entry["unschedulable"] and entry["verb"] != "delete":
        since.setdefault(entry["uid"], entry["at"])
    else:
        since.pop(entry["uid"], None)


def deleted_by_ebb(evidence: Evidence) -> Iterator[str]:
    """Find requests of Ebb to delete anything at all."""
    for entry in evidence.entries:
        if entry["type"] == "request" and entry["verb"] == "DELETE" and is_ebb(entry["user_agent"]):
            yield f"Ebb asked for DELETE {entry['path']}"
