"""A little cluster with a single replica that leaves without a gap, and its Deployment's controller."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from msgspec import structs

from shared.core.cluster.workloads import Deployment, Workload
from shared.core.policy import SingleReplicas
from tests.builders import node, pod, policy
from tests.functions.fake_ebb import FakeEbb

NAME = "default/Deployment/web"
OLD, NEW = "default/ReplicaSet/web-old", "default/ReplicaSet/web-new"
STARTS_WITHIN = 20
AT_REST = Deployment(
    name=NAME, uid="u", resource_version="1", generation=1, created=1, updated=1, available=1, template="t"
)


class Rollouts:
    """The Deployment controller of one Deployment: a new pod when the stamp changes, the old one's end once it runs."""

    def __init__(self, ebb: FakeEbb, *, starts: bool = True, at_rest: Deployment = AT_REST) -> None:
        self.ebb, self.starts, self._begun = ebb, starts, 0.0
        self.put(at_rest)
        ebb.clock.moves.append(self.move)

    @property
    def now(self) -> Deployment:
        return self.ebb.cluster.deployments[NAME]

    def put(self, found: Deployment, **changes: Any) -> None:
        """Let the Deployment stand so, and its ReplicaSets speak for it."""
        version = f"{found.resource_version}+" if changes else found.resource_version
        self.ebb.cluster.deployments[NAME] = stands = replace(found, resource_version=version, **changes)
        rolling = not stands.observed or stands.created != stands.updated
        workload = Workload(NAME, 1, stands.available, rolling, stands.created, deployment=replace(stands, template=""))
        self.ebb.cluster.workloads |= {OLD: workload, NEW: workload}

    def move(self) -> None:
        if self.now.stamp == AT_REST.stamp and not self.now.observed:
            self._go_back()
        elif not self.now.observed:
            self._begin()
        elif self._is_due() and "default/new" in self.ebb.cluster.pods:
            self._finish()

    def _begin(self) -> None:
        self._begun = self.ebb.clock.passed
        self.put(self.now, observed=True, created=2, updated=0 if not self.starts else 1)
        given: dict[str, Any] = {"on": "n2"} if self.starts else {"unschedulable_since": self.ebb.clock.now()}
        self.ebb.cluster.put(pod("new", owner="ReplicaSet/web-new", ready=False, **given))

    def _is_due(self) -> bool:
        return self.starts and self.now.created == 2 and self.ebb.clock.passed - self._begun >= STARTS_WITHIN

    def _finish(self) -> None:
        self.ebb.cluster.pods["default/new"] = structs.replace(self.ebb.cluster.pods["default/new"], ready=True)
        self.ebb.cluster.pods.pop("default/old", None)
        self.put(self.now, created=1, updated=1)

    def _go_back(self) -> None:
        self.ebb.cluster.pods.pop("default/new", None)
        self.put(self.now, observed=True, created=1, updated=1)


def fake_ebb(
    *,
    starts: bool = True,
    setting: SingleReplicas = SingleReplicas.SURGE,
    at_rest: Mapping[str, Any] | None = None,
    **changes: Any,
) -> tuple[FakeEbb, Rollouts]:
    """Three nodes with room; on n1 the only pod of a Deployment, and an ordinary one."""
    given = changes.pop("policy", policy(single_replicas=setting))
    ebb = FakeEbb(
        node("n1"),
        node("n2"),
        node("n3"),
        pod("old", on="n1", owner="ReplicaSet/web-old"),
        pod("other", on="n1", owner="ReplicaSet/other", grace_seconds=1),
        policy=given,
        **changes,
    )
    ebb.cluster.workloads["default/ReplicaSet/other"] = Workload("default/Deployment/other", 2, 2, created=2)
    return ebb, Rollouts(ebb, starts=starts, at_rest=replace(AT_REST, **(at_rest or {})))
