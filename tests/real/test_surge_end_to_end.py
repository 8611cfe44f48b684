"""Single replicas under closed budgets leave nodes on real parts with `infra/options/surge.yaml`: without a gap."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from infra.local.world.pods import is_ready
from shared.core.cluster.names import OUR_TAINT, SURGE_STAMP
from shared.core.reasons import ReturnReason
from tests.fixtures_real import NewControlPlane
from tests.real.audit_record import Audit, about, by_ebb, is_dry
from tests.real.conftest import Corner
from tests.real.control_plane import ControlPlane
from tests.real.control_plane.manifests import deployment, namespace, nodes, paced
from tests.real.installation import Installation, Memory, RealServices, policy_text, simulated_pool
from tests.real.least_rights import filled_by_hand, least_rights
from tests.real.waiting import until
from tests.real.watches import Seen, Watch
from tests.rights.rbac import OPTIONS

Raw = dict[str, Any]
SPACE = "singles"
GOING, HANGING = "going", "hanging"
APPS = [f"solo-{number}" for number in range(4)]
HUNG = "hung"
POOLS = {name: simulated_pool(name, 0, 9) for name in (GOING, HANGING)}
SECONDS = 240.0
pytestmark = [pytest.mark.control_plane, pytest.mark.deep, pytest.mark.timeout(4 * SECONDS)]
DRAIN = {"timeout": "2m", "watchdog": "2m"}


@dataclass(frozen=True)
class Site:
    plane: ControlPlane
    ebb: Installation
    watch: Watch

    @property
    def corner(self) -> Corner:
        return Corner(self.plane, SPACE)

    def enable(self, pool: str, left: int) -> None:
        """Let the nodes of a pool go, as long as so many are left of both."""
        limits = {"minimumNodes": left, "rate": {"nodes": "100%", "per": "1h"}}
        rules: Raw = {
            "excessNodesThreshold": 1,
            "scaleDownRequiredUnderutilizedNodeCount": 1,
            "singleReplicas": "surge",
        }
        self.ebb.bucket.put("policies", "policy.yaml", policy_text(pool, 2, DRAIN, limits, **rules).encode())

    @property
    def memory(self) -> Memory:
        return Memory(self.ebb)

    def has_ended(self, node: str) -> bool:
        return any(record.order.node == node and record.outcome for record in self.memory.records())

    def stop(self) -> None:
        self.ebb.bucket.put("policies", "policy.yaml", b"{}")
        until("every drain settled", lambda: self.ebb.tick() and self.memory.is_at_rest(), SECONDS)

    def nodes(self, pool: str) -> dict[str, Raw]:
        found = self.plane.api.items(f"/api/v1/nodes?labelSelector=cloud.google.com%2Fgke-nodepool%3D{pool}")
        return {item["metadata"]["name"]: item for item in found}


@pytest.fixture(scope="module")
def site(new_control_plane: NewControlPlane, services_on: Callable[..., RealServices]) -> Iterator[Site]:
    with new_control_plane() as plane:
        populate(plane)
        services = services_on(plane, "ebb-surge", kubeconfigs=least_rights(plane))
        plane.kubectl("apply", "-f", "-", stdin=filled_by_hand(OPTIONS["surge"]))
        with Watch(plane.proxy_url) as watch, Installation(services, "dryRun: true", POOLS) as ebb:
            yield Site(plane, ebb, watch)


def populate(plane: ControlPlane) -> None:
    """One single replica on each of four nodes, and on a node of another pool one whose next pod never gets ready."""
    plane.api.create([namespace(SPACE)])
    plane.api.create([*nodes(4, pool=GOING), *nodes(3, pool=HANGING)])
    corner = Corner(plane, SPACE)
    for app in APPS:
        start(corner, single(app, GOING))
    start(corner, hanging())
    keep = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
    filler = deployment("filler", replicas=2, namespace=SPACE, cpu="2", pod=within(HANGING))
    filler["spec"]["template"]["metadata"]["annotations"] = keep
    plane.api.create([filler])
    until("the fillers", lambda: corner.ready("filler", 2))


def within(pool: str) -> Raw:
    return {"nodeSelector": {"cloud.google.com/gke-nodepool": pool}}


def single(app: str, pool: str) -> Raw:
    """Two of them find room on a node, and the scheduler gives each an empty one while there is one."""
    return deployment(app, replicas=1, namespace=SPACE, cpu="1500m", grace=2, pod=within(pool))


def hanging() -> Raw:
    made = paced(single(HUNG, HANGING), readiness="1h")
    made["spec"]["progressDeadlineSeconds"] = 20
    return made


def start(corner: Corner, manifest: Raw) -> None:
    app = manifest["metadata"]["name"]
    corner.plane.api.create([manifest])
    corner.hurry(app, 1)
    corner.protect(app, minAvailable=1)


def test_single_replicas_leave_their_nodes_without_a_gap_and_nobody_evicts_them(site: Site) -> None:
    before = site.nodes(GOING).keys()
    site.enable(GOING, left=5)

    until("two nodes gone", lambda: site.ebb.tick() and len(before - site.nodes(GOING).keys()) == 2, SECONDS)
    site.stop()

    until("every app on what is left", lambda: all(site.corner.ready(app, 1) for app in APPS))
    audit = site.plane.audit()
    assert asked_to_evict(audit) == []
    restarted = Counter(about(entry)["name"] for entry in restarts(audit))
    assert sorted(restarted.values()) == [1, 1]
    assert gaps(site.watch.seen(), APPS) == []
    drains = {record.order.order_id for record in site.memory.records() if record.outcome == "removed"}
    assert {stamp_of(site, app) for app in restarted} == drains


def test_a_restart_that_hangs_is_undone_and_the_node_returned(site: Site) -> None:
    (old,) = site.corner.pods(HUNG)
    node = old["spec"]["nodeName"]
    site.enable(HANGING, left=4)

    until("the drain given up", lambda: site.ebb.tick() and site.has_ended(node), SECONDS)
    site.stop()

    until("the old pod alone", lambda: [pod["metadata"]["uid"] for pod in site.corner.pods(HUNG)] == [uid(old)])
    (record,) = (record for record in site.memory.records() if record.order.node == node)
    assert record.surges.keys() == {f"{SPACE}/Deployment/{HUNG}"}
    assert record.why == ReturnReason.SURGE_FAILED
    assert stamp_of(site, HUNG) == ""
    assert current_sets(site, HUNG) == [old["metadata"]["ownerReferences"][0]["name"]]
    assert not site.nodes(HANGING)[node]["spec"].get("unschedulable")
    assert OUR_TAINT not in {each["key"] for each in site.nodes(HANGING)[node]["spec"].get("taints", [])}
    assert [pod for pod in site.plane.api.pods(SPACE) if pod["status"]["phase"] == "Pending"] == []
    assert asked_to_evict(site.plane.audit()) == []
    assert gaps(site.watch.seen(), [HUNG]) == []


def uid(thing: Raw) -> str:
    return str(thing["metadata"]["uid"])


def asked_to_evict(audit: list[Raw]) -> list[Audit]:
    return [entry for entry in by_ebb(audit) if about(entry).get("subresource") == "eviction"]


def restarts(audit: list[Raw]) -> list[Audit]:
    """Return the patches of Deployments that were granted, and make sure that no call was forbidden."""
    assert [entry["requestURI"] for entry in by_ebb(audit) if entry["responseStatus"]["code"] == 403] == []
    patches = (
        each for each in by_ebb(audit) if each["verb"] == "patch" and about(each).get("resource") == "deployments"
    )
    return [patch for patch in patches if not is_dry(patch) and patch["responseStatus"]["code"] == 200]


def stamp_of(site: Site, app: str) -> str:
    found = site.plane.api.request("GET", f"/apis/apps/v1/namespaces/{SPACE}/deployments/{app}").body
    return str((found["spec"]["template"]["metadata"].get("annotations") or {}).get(SURGE_STAMP, ""))


def current_sets(site: Site, app: str) -> list[str]:
    found = site.plane.api.items(f"/apis/apps/v1/namespaces/{SPACE}/replicasets?labelSelector=app%3D{app}")
    return [item["metadata"]["name"] for item in found if item["spec"]["replicas"]]


def gaps(seen: list[Seen], apps: list[str]) -> list[str]:
    """Return each moment, by what etcd wrote, at which an app that had been ready had no ready pod."""
    found, healthy = [], {app: set[str]() for app in apps}
    for each in (entry for entry in seen if entry.plural == "pods"):
        meta = each.thing["metadata"]
        pods = healthy.get(meta.get("labels", {}).get("app", ""))
        if pods is None or meta["namespace"] != SPACE:
            continue
        had = bool(pods)
        serves = is_ready(each.thing) and not each.gone and "deletionTimestamp" not in meta
        (pods.add if serves else pods.discard)(meta["uid"])
        if had and not pods:
            found.append(f"{meta['name']} was the last one, at revision {each.revision}")
    return found
