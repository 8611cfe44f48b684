"""The demo's installation: a simulated GKE in this process, and Ebb's functions as child processes."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from infra.local.bound_process import ROOT, Child, free_ports, listens
from infra.local.scenario import DEMO, load
from infra.local.servers import HOST, SimulatedGkeServers
from infra.local.simulated_gke import RestingCluster, leave_alone

TOPIC: Final = "projects/local/topics/ebb-orders"
POLICY: Final = "gs://ebb-demo/policy.yaml"
"""The scenario puts the policy there."""
PUSH_WINDOW: Final = 20
"""A subscription that has carried messages for a while pushes many at once; a demo has no time to begin with three."""
EVERY: Final = 2.0
"""Seconds between two ticks: schedule times are whole seconds, and no two ticks may have the same."""


@dataclass(frozen=True)
class DemoInstallation:
    """Everything that runs: the simulated GKE, the planner's address, and the two functions' processes."""

    gke: SimulatedGkeServers
    alone: RestingCluster
    """What the autoscaler would reach by itself, by a simulation of the same scenario."""
    policy: str
    """The policy as it lies in the simulated bucket."""
    plan_url: str
    planner: Child
    drainer: Child
    environment: Mapping[str, str]
    """What a command needs, too (`profile_of`)."""


@contextmanager
def start_all(folder: Path) -> Iterator[DemoInstallation]:
    """Run everything inside the block, logs and state in `folder`; Terminal, with its last lines, for no start."""
    scenario = load(DEMO)
    with ExitStack() as stack:
        plan_port, drain_port = free_ports(2)
        gke = SimulatedGkeServers(scenario)
        gke.push(TOPIC, f"http://{HOST}:{drain_port}/", PUSH_WINDOW)
        gke.start()
        stack.callback(gke.stop)
        own = {"EBB_TOPIC": TOPIC, "EBB_POLICY": POLICY, "EBB_STATE": f"sqlite:{folder / 'state.sqlite'}"}
        environment = {**gke.environment(folder), **own}
        planner = _start_function(stack, "planner", "plan", plan_port, folder, environment)
        drainer = _start_function(stack, "drainer", "drain", drain_port, folder, environment)
        alone = leave_alone(scenario)
        for child, port in ((planner, plan_port), (drainer, drain_port)):
            child.wait_until(partial(listens, port), f"it did not listen on port {port}")
        for child in (planner, drainer):  # at the end they go side by side: a busy one takes some seconds
            stack.callback(child.close_input)
        policy = scenario.objects[POLICY.removeprefix("gs://")]
        yield DemoInstallation(gke, alone, policy, f"http://{HOST}:{plan_port}/", planner, drainer, environment)


def _start_function(
    stack: ExitStack, name: str, target: str, port: int, folder: Path, environment: Mapping[str, str]
) -> Child:
    serve = [sys.executable, "-m", "functions_framework", "--target", target, "--source", str(ROOT / "main.py")]
    child = Child.bound(name, [*serve, "--host", HOST, "--port", str(port)], folder, {**environment, **_OF_FUNCTIONS})
    stack.callback(child.close)
    return child


_OF_FUNCTIONS: Final = {
    "EBB_INTERVAL_SECONDS": str(EVERY),
    "EBB_LOG_LEVEL": "INFO",
    "EBB_DECISION_LOG": "all",
    "LOG_EXECUTION_ID": "true",  # as the platform sets it for every function
    "THREADS": "32",
    "PYTHONUNBUFFERED": "1",
}
