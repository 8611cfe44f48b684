"""The promise where what comes back is not what left."""

from collections.abc import Callable

import pytest

from infra.local.world.kinds import Json
from shared.core.cluster import names
from tests.faults.directed import plain
from tests.faults.history import History, run
from tests.faults.installation import Installation
from tests.faults.oracle import breaches
from tests.faults.provider import Deed, ask
from tests.faults.returning_worlds import ON_DELETE
from tests.faults.waiting_times import MOST_UNSCHEDULABLE, measured_waits


def evictions(end: Installation) -> int:
    return sum(entry["type"] == "eviction" for entry in end.cloud.world.record.entries)


def test_where_nothing_shows_the_node_is_returned_and_all_run_again() -> None:
    end = run(plain("a webhook that nobody knows"))
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


def edit_template(name: str, edit: Callable[[Json, str], Json]) -> Deed:
    """Somebody changes a StatefulSet's template, which replaces no pod that runs (as under OnDelete).

    `edit` returns what changes in the template's spec, which is given with the node that the pod is on.
    """
    path = f"/apis/apps/v1/namespaces/default/statefulsets/{name}"

    def do(ebb: Installation) -> None:
        store = ebb.cloud.world.store
        spec = store.get("statefulsets", "default", name)["spec"]["template"]["spec"]
        edited = edit(spec, store.get("pods", "default", f"{name}-0")["spec"]["nodeName"])
        ask(ebb, "owner", "PATCH", path, {"spec": {"template": {"spec": edited}}})

    return Deed(f"{edit.__name__} in the template of {name}", do)


@pytest.mark.parametrize("edit", [more_cpu, selects_its_node, names_its_node])
def test_a_template_edited_at_any_moment_leaves_no_replacement_without_a_place(
    edit: Callable[[Json, str], Json],
) -> None:
    broken, moved = list[str](), list[int]()
    for at in range(0, 40, 2):
        end = run(History(ON_DELETE, acts=((float(at), edit_template("a", edit)),)))
        broken += [f"edited at {at} s: {breach}" for breach in breaches(end)]
        moved.append(evictions(end))
        assert max([0.0, *measured_waits(end)]) <= MOST_UNSCHEDULABLE

    assert broken == []
    assert moved[0] == 0, "edited before the plan it fits nowhere, and is not moved"
    assert 1 <= max(moved) <= 2, "what comes back to its node is evicted once more, if the edit was not read yet"
