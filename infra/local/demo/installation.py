"""Starts the simulated GKE and the two functions, wired to each other by environment alone, and ends them all.

Must not tell the story.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from infra.local.demo.children import ROOT, Child, free_ports, listens
from infra.local.demo.client import SimulatedGkeClient

SCENARIO: Final = ROOT / "infra" / "local" / "scenarios" / "demo.yaml"
TOPIC: Final = "projects/local/topics/ebb-orders"
POLICY: Final = "gs://ebb-demo/policy.yaml"
"""The scenario puts the policy there."""
PUSH_WINDOW: Final = "20"
"""A subscription that has carried messages for a while pushes many at once; a demo has no time to begin with three."""
_HOST: Final = "127.0.0.1"


@dataclass(frozen=True)
class AutoscalerAlone:
    """What the simulated GKE's autoscaler would reach by itself, as a simulation of the same scenario tells."""

    nodes: int
    """How many are left."""
    removed: int
    gate: float
    """The share of CPU and memory asked for above which it takes no node."""


@dataclass(frozen=True)
class DemoInstallation:
    """All that runs: where the simulated GKE is, the planner's address, and the two functions' processes."""

    gke: SimulatedGkeClient
    alone: AutoscalerAlone
    policy: str
    """The policy as it lies in the simulated bucket."""
    plan_url: str
    planner: Child
    drainer: Child
    environment: Mapping[str, str]
    """The functions' own: what a command needs, too, to act on them."""


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


def _start_simulated_gke(stack: ExitStack, folder: Path, scenario: Path, drain_port: int) -> Mapping[str, Any]:
    arguments = ["-m", "infra.local", "up", "--held", "--scenario", str(scenario), "--folder", str(folder)]
    arguments += ["--push", f"{TOPIC}=http://{_HOST}:{drain_port}/", "--window", PUSH_WINDOW]
    child = Child("simulated-gke", arguments, folder, {})
    stack.callback(child.close)
    child.wait_until(lambda: child.out.read_text().endswith("\n"), "it did not say its addresses")
    addresses: Mapping[str, Any] = json.loads(child.out.read_text())
    return addresses


def _simulate_autoscaler(folder: Path, scenario: Path) -> AutoscalerAlone:
    """Ask what the autoscaler would reach alone, while the functions start."""
    with closing(Child("alone", ["-m", "infra.local", "alone", "--scenario", str(scenario)], folder, {})) as child:
        child.wait_until(lambda: child.out.read_text().endswith("\n"), "it did not say what the autoscaler reaches")
        summary: Mapping[str, Any] = json.loads(child.out.read_text())
    return AutoscalerAlone(summary["nodes"], summary["removed"], summary["gate"])


def _start_function(
    stack: ExitStack, name: str, target: str, port: int, folder: Path, environment: Mapping[str, str]
) -> Child:
    """Start a function bound to this process: functions-framework itself would outlive a demo that was killed."""
    bound = folder / f"{name}.bound"
    bound.mkdir()
    serve = ["-m", "functions_framework", "--target", target, "--source", str(ROOT / "main.py")]
    command = [*serve, "--host", _HOST, "--port", str(port)]
    child = Child(name, ["-m", "infra.local.bound_process", str(bound), sys.executable, *command], folder, environment)
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
        "EBB_LOG_LEVEL": "INFO",
        "EBB_DECISION_LOG": "all",
        "PUBSUB_EMULATOR_HOST": addresses["pubsub"],
        "STORAGE_EMULATOR_HOST": addresses["bucket"],
        "GOOGLE_CLOUD_PROJECT": "local",
        "LOG_EXECUTION_ID": "true",  # as the platform sets it for every function
        "THREADS": "32",
        "PYTHONUNBUFFERED": "1",
    }
