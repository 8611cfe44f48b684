"""The demo's installation: Ebb's functions as child processes, and the client that watches the simulated GKE."""

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from infra.local.bound_process import ROOT, Child, free_ports, listens
from infra.local.scaling.client import MERGE_PATCH, call_http
from infra.local.world.kinds import Json
from shared.errors import Retryable

ME: Final = "ebb-demo"
PERSON: Final = "kubectl (a person)"
_GOOD: Final = range(200, 300)


class SimulatedGkeClient:
    """The simulated GKE at the addresses that it printed at its start."""

    def __init__(self, addresses: Mapping[str, Any]) -> None:
        self._kube = str(addresses["kube"])
        self._bucket = str(addresses["bucket"])
        self.nodes_of: Mapping[str, list[str]] = addresses["nodes"]
        """Node names of each pool, in the scenario's order."""
        self._read = 0

    def items(self, path: str) -> list[Json]:
        """List one kind of the Kubernetes API, as in `/api/v1/nodes`."""
        items: list[Json] = json.loads(self._call("GET", f"{self._kube}{path}"))["items"]
        return items

    def cordon(self, node: str) -> None:
        """Cordon a node as a person does with kubectl."""
        headers = {"Content-Type": MERGE_PATCH, "User-Agent": PERSON}
        self._call("PATCH", f"{self._kube}/api/v1/nodes/{node}", {"spec": {"unschedulable": True}}, headers)

    def schedule(self, url: str, every: float) -> None:
        """Make the scheduler job that calls the planner every so many seconds."""
        self._call("POST", f"{self._kube}/_job", {"name": "ebb-tick", "url": url, "every": every})

    def read_policy(self, bucket: str, name: str) -> str:
        """Read the policy as it lies in the bucket."""
        return self._call("GET", f"{self._bucket}/storage/v1/b/{bucket}/o/{quote(name, safe='')}?alt=media")

    def new_entries(self) -> list[Json]:
        """Return the record's entries since the last call."""
        lines = self._call("GET", f"{self._kube}/_record?from={self._read}").splitlines()
        self._read += len(lines)
        return [json.loads(line) for line in lines]

    def _call(self, method: str, url: str, body: Json | None = None, headers: Mapping[str, str] | None = None) -> str:
        sent = b"" if body is None else json.dumps(body).encode()
        status, answer = call_http(method, url, sent, {"User-Agent": ME, **(headers or {})})
        text = answer.decode(errors="replace")
        if status not in _GOOD:
            raise Retryable("simulated GKE", f"{method} {url}: {status or 'no answer'} {text[:200]}")
        return text


SCENARIO: Final = ROOT / "infra" / "local" / "scenarios" / "demo.yaml"
TOPIC: Final = "projects/local/topics/ebb-orders"
POLICY: Final = "gs://ebb-demo/policy.yaml"
"""The scenario puts the policy there."""
PUSH_WINDOW: Final = "20"
"""A subscription that has carried messages for a while pushes many at once; a demo has no time to begin with three."""
EVERY: Final = 2.0
"""Seconds between two ticks: schedule times are whole seconds, and no two ticks may have the same."""
_HOST: Final = "127.0.0.1"


@dataclass(frozen=True)
class AutoscalerAlone:
    """What the simulated GKE's autoscaler would reach by itself, by a simulation of the same scenario."""

    nodes: int
    """How many are left."""
    removed: int
    gate: float
    """The share of CPU and memory asked for above which it takes no node."""


@dataclass(frozen=True)
class DemoInstallation:
    """Everything that runs: the simulated GKE, the planner's address, and the two functions' processes."""

    gke: SimulatedGkeClient
    alone: AutoscalerAlone
    policy: str
    """The policy as it lies in the simulated bucket."""
    plan_url: str
    planner: Child
    drainer: Child
    environment: Mapping[str, str]
    """The functions' variables; a command needs some of them, too (`run.profile_of`)."""


@contextmanager
def running(folder: Path, scenario: Path = SCENARIO) -> Iterator[DemoInstallation]:
    """Start everything, with logs and state in `folder`, and end everything at the end of the block.

    Raises:
        Terminal: a process did not start; the sentence has its last lines.
    """
    with ExitStack() as stack:
        plan_port, drain_port = free_ports(2)
        addresses = _start_simulated_gke(stack, folder, scenario, drain_port)
        environment = _environment(addresses, folder)
        planner = _start_function(stack, "planner", "plan", plan_port, folder, environment)
        drainer = _start_function(stack, "drainer", "drain", drain_port, folder, environment)
        alone = _simulate_autoscaler(folder, scenario)
        for child, port in ((planner, plan_port), (drainer, drain_port)):
            child.wait_until(partial(listens, port), f"it did not listen on port {port}")
        for child in (planner, drainer):  # at the end they go side by side: a busy one takes some seconds
            stack.callback(child.let_go)
        gke = SimulatedGkeClient(addresses)
        yield DemoInstallation(
            gke,
            alone,
            gke.read_policy(*POLICY.removeprefix("gs://").split("/", 1)),
            f"http://{_HOST}:{plan_port}/",
            planner,
            drainer,
            environment,
        )


def _printed(child: Child) -> Any:
    """The JSON document that a command of the simulated GKE prints when it is ready."""
    child.wait_until(lambda: child.out.read_text(encoding="utf-8").endswith("\n"), "it printed nothing")
    return json.loads(child.out.read_text(encoding="utf-8"))


def _start_simulated_gke(stack: ExitStack, folder: Path, scenario: Path, drain_port: int) -> Mapping[str, Any]:
    arguments = ["-m", "infra.local", "up", "--held", "--scenario", str(scenario), "--folder", str(folder)]
    arguments += ["--push", f"{TOPIC}=http://{_HOST}:{drain_port}/", "--window", PUSH_WINDOW]
    child = Child("simulated-gke", arguments, folder)
    stack.callback(child.close)
    addresses: Mapping[str, Any] = _printed(child)
    return addresses


def _simulate_autoscaler(folder: Path, scenario: Path) -> AutoscalerAlone:
    """Simulate what the autoscaler would reach alone, while the functions start."""
    with closing(Child("alone", ["-m", "infra.local", "alone", "--scenario", str(scenario)], folder)) as child:
        summary = _printed(child)
    return AutoscalerAlone(summary["nodes"], summary["removed"], summary["gate"])


def _start_function(
    stack: ExitStack, name: str, target: str, port: int, folder: Path, environment: Mapping[str, str]
) -> Child:
    serve = [sys.executable, "-m", "functions_framework", "--target", target, "--source", str(ROOT / "main.py")]
    child = Child.bound(name, [*serve, "--host", _HOST, "--port", str(port)], folder, environment)
    stack.callback(child.close)
    return child


def _environment(addresses: Mapping[str, Any], folder: Path) -> dict[str, str]:
    return {
        "EBB_CLUSTER": addresses["cluster"],
        "EBB_TOPIC": TOPIC,
        "EBB_STATE": f"sqlite:{folder / 'state.sqlite'}",
        "EBB_POLICY": POLICY,
        "EBB_KUBECONFIG": addresses["kubeconfig"],
        "EBB_GKE_API": addresses["gke"],
        "EBB_INTERVAL_SECONDS": str(EVERY),
        "EBB_LOG_LEVEL": "INFO",
        "EBB_DECISION_LOG": "all",
        "PUBSUB_EMULATOR_HOST": addresses["pubsub"],
        "STORAGE_EMULATOR_HOST": addresses["bucket"],
        "GOOGLE_CLOUD_PROJECT": "local",
        "LOG_EXECUTION_ID": "true",  # as the platform sets it for every function
        "THREADS": "32",
        "PYTHONUNBUFFERED": "1",
    }
