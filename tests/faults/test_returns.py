"""The promise where what comes back is not what left."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from infra.local.world.kinds import Json
from shared.core.cluster import names
from shared.core.cluster.namespace_limits import NO_LIMITS, NamespaceLimits
from shared.core.cluster.pod import Pod
from shared.core.cluster.returning import VerticalAutoscaler
from shared.core.cluster.workloads import Workload
from shared.store import snapshots
from tests.faults.history import History, run
from tests.faults.installation import Installation
from tests.faults.mutants import swapped
from tests.faults.oracle import breaches
from tests.faults.provider import ask
from tests.faults.returning_worlds import FULL, ON_DELETE, returning_settings
from tests.faults.waiting_times import MOST_UNSCHEDULABLE, measured_waits


def evictions(end: Installation) -> int:
    return sum(entry["type"] == "eviction" for entry in end.cloud.world.record.entries)


def test_where_nothing_shows_the_node_is_returned_and_all_run_again() -> None:
    (setting,) = (setting for setting in returning_settings() if setting.name == "a webhook that nobody knows")
    end = run(History(setting))
    pods = {pod["metadata"]["labels"]["app"]: pod for pod in end.cloud.world.store.all("pods")}

    assert max(measured_waits(end)) <= MOST_UNSCHEDULABLE
    assert pods["a"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "900m"
    assert all(pod["status"]["phase"] == "Running" for pod in pods.values())


def more_cpu(spec: Json, _: str) -> Json:
    (container,) = spec["containers"]
    return {"containers": [{**container, "resources": {"requests": {"cpu": "900m", "memory": "256Mi"}}}]}


def selects_its_node(_: Json, node: str) -> Json:
    return {"nodeSelector": {names.HOSTNAME_LABEL: node}}


def names_its_node(_: Json, node: str) -> Json:
    return {"nodeName": node}


@dataclass(frozen=True)
class EditTemplate:
    """Somebody changes a StatefulSet's template, which replaces no pod that runs (as under OnDelete)."""

    name: str
    edit: Callable[[Json, str], Json]
    """Returns what changes in the template's spec, which is given with the node that the pod is on."""

    def __call__(self, ebb: Installation) -> None:
        store = ebb.cloud.world.store
        path = f"/apis/apps/v1/namespaces/default/statefulsets/{self.name}"
        spec = store.get("statefulsets", "default", self.name)["spec"]["template"]["spec"]
        edited = self.edit(spec, store.get("pods", "default", f"{self.name}-0")["spec"]["nodeName"])
        ask(ebb, "owner", "PATCH", path, {"spec": {"template": {"spec": edited}}})
        ebb.cloud.world.step()

    def __str__(self) -> str:
        return f"{self.edit.__name__} in the template of {self.name}"


@pytest.mark.parametrize("edit", [more_cpu, selects_its_node, names_its_node])
def test_a_template_edited_at_any_moment_leaves_no_replacement_without_a_place(
    edit: Callable[[Json, str], Json],
) -> None:
    broken, moved = list[str](), list[int]()
    for at in range(0, 40, 2):
        end = run(History(ON_DELETE, acts=((float(at), EditTemplate("a", edit)),)))
        broken += [f"edited at {at} s: {breach}" for breach in breaches(end)]
        moved.append(evictions(end))
        assert max([0.0, *measured_waits(end)]) <= MOST_UNSCHEDULABLE

    assert broken == []
    assert moved[0] == 0, "edited before the plan it fits nowhere, and is not moved"
    assert 1 <= max(moved) <= 2, "what comes back to its node is evicted once more, if the edit was not read yet"


@contextmanager
def as_they_left() -> Iterator[None]:
    """Ebb believes that what comes back is what left."""

    def unchanged(
        pods: Iterable[Pod],
        workloads: Mapping[str, Workload],
        autoscalers: Iterable[VerticalAutoscaler] = (),
        limits: NamespaceLimits = NO_LIMITS,
    ) -> tuple[Pod, ...]:
        del workloads, autoscalers, limits
        return tuple(pods)

    with swapped(snapshots, "as_they_return", unchanged):
        yield


@pytest.mark.parametrize("name", sorted(FULL))
def test_who_books_a_pod_as_it_left_is_seen(name: str) -> None:
    (setting,) = (setting for setting in returning_settings() if setting.name == name)
    with as_they_left():
        found = breaches(run(History(setting)))

    assert any("the first eviction" in fault for fault in found)
