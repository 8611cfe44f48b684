"""Did a single replica leave a gap? From the record, and from Deployments at the end; no code of Ebb's rules."""

import json
from collections.abc import Iterator

from infra.local.world.kinds import Json
from shared.core.records.drain_record import DrainRecord
from tests.faults.excuses import Excuse, Excuses
from tests.faults.installation import Installation
from tests.faults.replay import Entry, ReplayedCluster, is_ebb
from tests.faults.surging_worlds import SURGED

TAKES_AWAY = frozenset({
    "delete", "evict", "preempt", "crash", "make anew", "upgrade", "upgraded", "take", "replace",
    "delete the pool", "start", "finish",
})  # fmt: skip
"""What people and GKE do that takes pods or nodes away."""
STAMP = "ebb.internal/surged-for"


class Surges:
    """What holds for workloads whose pods are to leave without a gap; elsewhere nothing is asked.

    Whoever takes pods or nodes away himself makes gaps that are not Ebb's: from then on only evictions by Ebb count.
    """

    def __init__(self, *, surging: bool) -> None:
        self._surging = surging
        self._alone = True
        self._grown = False
        """Whether somebody scaled a workload out: one of several replicas that serve may be evicted like any other."""

    def of(self, entry: Entry, cluster: ReplayedCluster) -> Iterator[str]:
        if not self._surging:
            return
        self._alone = self._alone and not (entry["type"] == "act" and entry["act"] in TAKES_AWAY)
        self._grown = self._grown or (entry["type"] == "act" and entry["act"] == "grow")
        if entry["type"] == "eviction" and is_ebb(entry["actor"]):
            app = entry["name"].partition("-")[0]
            if app in SURGED and not (self._grown and _others_serve(entry["name"], app, cluster)):
                yield f"{entry['actor']} evicted {entry['name']}, which was to leave without a gap"
        if entry["type"] == "change" and entry["kind"] == "pods" and self._alone:
            yield from _gap(entry, cluster)


def _others_serve(name: str, app: str, cluster: ReplayedCluster) -> bool:
    return any(_serves(pod, app) and pod["name"] != name for pod in cluster.pods.values())


def _gap(entry: Entry, cluster: ReplayedCluster) -> Iterator[str]:
    app = entry["labels"].get("app", "")
    if app not in SURGED:
        return
    before = {uid for uid, pod in cluster.pods.items() if _serves(pod, app)}
    serves = entry["verb"] != "delete" and _serves(entry, app)
    after = before - {entry["uid"]} | ({entry["uid"]} if serves else set())
    if before and not after:
        yield f"{app} has no Ready pod once {entry['name']} is gone"


def _serves(pod: Entry, app: str) -> bool:
    return pod["labels"].get("app") == app and pod["ready"] and not pod["terminating"]


def left_waiting(end: Installation, excuses: Excuses) -> Iterator[str]:
    records = end.state.all("drains", DrainRecord)
    held = {claim.order_id for claim in end.remembered().claims.values()}
    for found in end.cloud.world.store.all("deployments"):
        stamp = (found["spec"]["template"]["metadata"].get("annotations") or {}).get(STAMP, "")
        if not stamp or stamp in held or _is_rolled_out(found):
            continue
        rows = (
            (Excuse.FORGOTTEN, end.lost_state_at > float("-inf")),
            (Excuse.NODE_GONE, stamp in records and _is_gone(end, records[stamp].value)),
            (Excuse.CHANGED_SINCE, _is_changed_since(end, found)),
        )
        if not any(excuses.covers(*row) for row in rows):
            yield f"{found['metadata']['name']} still waits for a pod on behalf of {stamp}"


def restarted_again(end: Installation) -> Iterator[str]:
    stands, undone = dict[str, str](), set[tuple[str, str]]()
    for entry in end.cloud.world.record.of("request"):
        if (entry["verb"], entry["code"], entry["dry_run"]) != ("PATCH", 200, False) or STAMP not in entry["body"]:
            continue
        path, stamp = entry["path"], _stamp_in(entry["body"])
        if not is_ebb(entry["user_agent"]):
            undone.add((path, stands.get(path, "")))
        elif stamp and (path, stamp) in undone:
            yield f"{entry['user_agent']} wrote {stamp} into {path} again, which somebody had undone"
        stands[path] = stamp


def _stamp_in(body: str) -> str:
    notes = json.loads(body)["spec"]["template"]["metadata"]["annotations"]
    return str(notes[STAMP] or "")


def _is_changed_since(end: Installation, deployment: Json) -> bool:
    meta = deployment["metadata"]
    path = f"/apis/apps/v1/namespaces/{meta['namespace']}/deployments/{meta['name']}"
    patches = [
        entry["user_agent"]
        for entry in end.cloud.world.record.of("request")
        if (entry["verb"], entry["path"], entry["code"]) == ("PATCH", path, 200)
        and not entry["dry_run"]
        and '"template"' in entry["body"]
    ]
    return bool(patches) and not is_ebb(patches[-1])


def _is_gone(end: Installation, record: DrainRecord | None) -> bool:
    """Whether the node of a drain is there no more: what lay on it has to come elsewhere anyhow."""
    nodes = {node["metadata"]["uid"] for node in end.cloud.world.store.all("nodes")}
    return record is not None and record.node_uid not in nodes


def _is_rolled_out(found: Entry) -> bool:
    status = found["status"]
    return bool(status.get("replicas", 0) == status.get("updatedReplicas", 0))
