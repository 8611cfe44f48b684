"""The command against a cluster over HTTP: the simulated GKE, with the clients that production uses."""

from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from functions.cli.input.inputs import IN_REACH
from functions.cli.input.readers import cluster_of
from infra.local.scenario import parse
from infra.local.servers import SimulatedGkeServers
from tests.adapters.scripted import Say, scripted
from tests.cli.running import run_ebb
from tests.depth import cases

SCENARIO = """
autoscaler: {enabled: false}
pools: [{name: main, count: 3}]
workloads:
  - {name: web, replicas: 2, requests: {cpu: 500m}, nodes: [main/0-1], shutdown: 0}
"""


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    running = SimulatedGkeServers(parse(SCENARIO))
    running.start()
    found = running.environment(tmp_path_factory.mktemp("kubeconfig"))
    named = {"cluster": "EBB_CLUSTER", "gke": "EBB_GKE_API", "kubeconfig": "EBB_KUBECONFIG"}
    yield {**{name: found[variable] for name, variable in named.items()}, "nodes": running.cloud.node_names}
    running.stop()


def _names(addresses: dict[str, Any]) -> list[str]:
    return [name for pool in addresses["nodes"].values() for name in pool]


def _ebb(addresses: dict[str, Any], *args: str, **environment: str) -> CompletedProcess[str]:
    return run_ebb(*args, "--kubeconfig", addresses["kubeconfig"], **environment)


def test_every_node_of_the_cluster_has_a_row(addresses: dict[str, Any]) -> None:
    shown = _ebb(addresses, "plan", "--nodes")
    assert (shown.returncode, shown.stderr) == (0, "")
    for name in _names(addresses):
        assert sum(line.startswith(f"{name} ") for line in shown.stdout.splitlines()) == 1


@cases(
    "expected, args, environment",
    ("of the environment", "ebb: kubeconfig /nonexistent (KUBECONFIG) ", ("plan",), {"KUBECONFIG": "/nonexistent"}),
    ("nothing shown", "ebb: kubeconfig ~/.kube/config (kubectl's default) ", ("plan",), {}),
    ("of several clusters", "ebb: kubeconfig /nonexistent (KUBECONFIG) ", ("fleet", "--context", "prod-*"),
     {"KUBECONFIG": "/nonexistent"}),
)  # fmt: skip
def test_a_kubeconfig_that_is_not_there_is_named(
    tmp_path: Path, expected: str, args: tuple[str, ...], environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    told = run_ebb(*args, HOME=str(tmp_path), **environment)

    assert told.returncode in {1, 2}
    assert told.stderr.startswith(expected)


@cases(
    "expected, api",
    ("none", "Without a GKE API pools are read from node labels", "none"),
    ("an address", "Pools are those that the GKE API names", ""),
)
def test_it_is_shown_what_the_pools_rest_on(expected: str, api: str, addresses: dict[str, Any]) -> None:
    shown = _ebb(addresses, "plan", EBB_CLUSTER=addresses["cluster"], EBB_GKE_API=api or addresses["gke"])
    assert shown.returncode == 0, shown.stderr
    assert expected in shown.stdout


def test_a_node_is_explained(addresses: dict[str, Any]) -> None:
    shown = _ebb(addresses, "explain", _names(addresses)[0])
    assert shown.returncode == 0, shown.stderr
    assert "too_few_underutilized" in shown.stdout


@cases(
    "expected, context",
    ("gcloud's", "projects/shop/locations/europe-west4/clusters/prod", "gke_shop_europe-west4_prod"),
    ("another", "minikube", "minikube"),
    ("another of four parts", "my_own_long_name", "my_own_long_name"),
)
def test_a_context_names_the_cluster(expected: str, context: str) -> None:
    assert cluster_of(context) == expected


def test_an_autopilot_cluster_is_refused_with_a_sentence(addresses: dict[str, Any]) -> None:
    with scripted() as gke:
        gke.says(Say(body={"name": "c", "autopilot": {"enabled": True}}))
        shown = _ebb(addresses, "plan", EBB_CLUSTER=addresses["cluster"], EBB_GKE_API=gke.address)

    assert (shown.returncode, shown.stdout) == (1, "")
    assert shown.stderr.startswith(f"ebb: {addresses['cluster']} is an Autopilot cluster: its nodes are Google's")
    assert "Traceback" not in shown.stderr


@pytest.mark.parametrize("command", [("explain", "NODE"), ("why-not",)])
def test_the_marks_of_an_installation_in_reach_are_used(
    command: tuple[str, ...], addresses: dict[str, Any], tmp_path: Path
) -> None:
    words = [_names(addresses)[0] if word == "NODE" else word for word in command]
    installation = {"EBB_CLUSTER": addresses["cluster"], "EBB_STATE": f"sqlite:{tmp_path / 'state'}"}
    shown = _ebb(addresses, *words, **installation, EBB_GKE_API="none")
    assert shown.returncode == 0, shown.stderr
    assert IN_REACH in shown.stdout
