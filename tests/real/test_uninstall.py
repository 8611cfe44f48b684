"""Ebb leaves as docs/uninstall.md says, in the middle of its drains, and leaves no cordon, taint or annotation."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import requests

from shared.core.cluster.names import HELD_TAINT, OUR_ANNOTATION, OUR_TAINT
from tests.fixtures_real import NewControlPlane
from tests.pages import UNINSTALL
from tests.pages import blocks as blocks_of
from tests.real.control_plane import ControlPlane
from tests.real.control_plane.manifests import deployment, namespace, nodes
from tests.real.installation import Installation, Memory, RealServices
from tests.real.least_rights import filled_by_hand, least_rights
from tests.real.process_killer import stacks
from tests.real.shop_cluster import LIMITS, NAMESPACE, POOL, POOLS, policy
from tests.real.waiting import until

pytestmark = [pytest.mark.control_plane, pytest.mark.deep, pytest.mark.timeout(900)]
NODES, APPS, REPLICAS = 10, 8, 4
GRACE = 90
"""Seconds that each pod takes to end: a drain that has begun is still in flight when Ebb is to leave."""
DESTROY = "terraform destroy"
"""What only a cloud can show; here the functions, the topic and the subscription end at this step."""
KEPT = "cluster-autoscaler.kubernetes.io/scale-down-disabled=true"
"""The autoscaler deletes an empty node whoever has cordoned it; a person who looks into one says that it stays."""


@dataclass(frozen=True)
class Site:
    plane: ControlPlane
    services: RealServices
    home: Path
    persons_node: str

    def shell(self, script: str, environment: dict[str, str]) -> str:
        path = [str(Path(sys.executable).parent), str(self.plane.kubeconfig.parent / "bin"), os.environ["PATH"]]
        done = subprocess.run(
            ["sh", "-euc", script],
            env={**os.environ, **environment, "HOME": str(self.home), "PATH": os.pathsep.join(path)},
            capture_output=True,
            text=True,
            timeout=360,
            check=False,
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def nodes(self) -> list[dict[str, Any]]:
        return self.plane.api.nodes()

    def cordoned(self) -> set[str]:
        return {node["metadata"]["name"] for node in self.nodes() if node["spec"].get("unschedulable")}

    def ours(self) -> set[str]:
        return {node["metadata"]["name"] for node in self.nodes() if has_our_taint(node) or is_annotated(node)}


def has_our_taint(node: dict[str, Any]) -> bool:
    return any(taint["key"] in (OUR_TAINT, HELD_TAINT) for taint in node["spec"].get("taints", []))


def is_annotated(node: dict[str, Any]) -> bool:
    return OUR_ANNOTATION in node["metadata"].get("annotations", {})


@pytest.fixture(scope="module")
def plane(new_control_plane: NewControlPlane) -> Iterator[ControlPlane]:
    with new_control_plane() as plane:
        plane.api.create([namespace(NAMESPACE)])
        plane.api.create(nodes(NODES, pool=POOL))
        plane.api.create(
            deployment(f"app-{number}", namespace=NAMESPACE, replicas=REPLICAS, cpu="300m", grace=GRACE)
            for number in range(APPS)
        )
        yield plane


@pytest.fixture(scope="module")
def site(
    plane: ControlPlane, services_on: Callable[..., RealServices], tmp_path_factory: pytest.TempPathFactory
) -> Site:
    home = tmp_path_factory.mktemp("home")
    (home / ".kube").mkdir()
    shutil.copy(plane.kubeconfig, home / ".kube" / "config")
    services = services_on(plane, kubeconfigs=least_rights(plane))
    name = plane.api.nodes()[0]["metadata"]["name"]
    plane.kubectl("annotate", "node", name, KEPT)
    plane.kubectl("cordon", name)
    return Site(plane, services, home, name)


@contextmanager
def installed(site: Site) -> Iterator[Installation]:
    until("a calm cluster", lambda: all_run(site) and not site.ours())
    site.plane.kubectl("apply", "-f", "-", stdin=filled_by_hand())
    services = replace(site.services, database=f"ebb-{uuid4().hex[:8]}")
    settings = {"EBB_LOG_LEVEL": "DEBUG"}
    with Installation(services, policy(LIMITS), POOLS, settings) as ebb:
        try:
            until("drains in flight", lambda: ticked(ebb) and site.ours())
        except AssertionError as stalled:
            raise AssertionError(stacks(ebb, "drain")) from stalled
        yield ebb


def all_run(site: Site) -> bool:
    pods = site.plane.api.pods(NAMESPACE)
    return len(pods) == APPS * REPLICAS and all(pod["status"].get("phase") == "Running" for pod in pods)


def ticked(installation: Installation) -> bool:
    installation.tick()
    return bool(Memory(installation).state().claims)


def blocks() -> list[str]:
    """The commands of the page: leaving in order, and leaving when the functions went first."""
    return blocks_of(UNINSTALL.read_text(encoding="utf-8"), "sh")


def test_nodes_are_found_by_their_taint_when_the_state_was_destroyed_first(site: Site) -> None:
    with installed(site) as ebb:
        until("the answer to every order", Memory(ebb).is_answered)
        documents = f"emulator/v1/projects/local/databases/{ebb.services.database}/documents"
        assert requests.delete(f"http://{ebb.services.firestore}/{documents}", timeout=30).status_code == 200
        assert not Memory(ebb).state().claims

        for step in blocks()[0].split(f"{DESTROY}\n")[0].splitlines():
            site.shell(step, ebb.environment)

        assert (site.ours(), site.cordoned()) == (set(), {site.persons_node})


def test_kubectl_alone_gives_nodes_back_when_the_functions_went_first(site: Site) -> None:
    with installed(site):
        held = site.ours()

    site.shell(blocks()[1], {})

    assert held
    assert (site.ours(), site.cordoned()) == (set(), {site.persons_node})


def test_the_steps_of_the_page_leave_nothing_behind(site: Site) -> None:
    """The last one: it deletes roles and fences, and drains of an Ebb that is installed at once again may stall."""
    before, after = blocks()[0].split(f"{DESTROY}\n")

    with installed(site) as ebb:
        for step in before.splitlines():
            said = site.shell(step, ebb.environment)
        assert re.findall(r"(\S+) +\S*SchedulingDisabled", said) == [site.persons_node]
        assert (site.ours(), site.cordoned(), Memory(ebb).state().claims) == (set(), {site.persons_node}, {})
        ebb.tick()
        assert (site.ours(), Memory(ebb).state().claims) == (set(), {}), "a pass after the pause took a node again"
    for step in after.splitlines():
        site.shell(step, {})

    for kind in (
        "rbac.authorization.k8s.io/v1/clusterroles",
        "admissionregistration.k8s.io/v1/validatingadmissionpolicies",
    ):
        left = [item["metadata"]["name"] for item in site.plane.api.items(f"/apis/{kind}")]
        assert [name for name in left if name.startswith("ebb-")] == []
