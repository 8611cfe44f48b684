"""Both functions from the unpacked archive, in an environment of nothing but what `requirements.txt` names.

They are started as the buildpack starts them: in the source root, by the command functions-framework, with the
variables that Terraform sets. What a laptop has in the cloud's place stands in `STAND_INS`.
"""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import requests

from infra.local.bound_process import Child, free_ports, listens
from infra.local.scenario import load
from infra.local.servers import SimulatedGkeServers

HOST = "127.0.0.1"
TOPIC = "projects/local/topics/orders"
STAND_INS = {
    *("EBB_KUBECONFIG", "EBB_GKE_API"),
    *("FIRESTORE_EMULATOR_HOST", "PUBSUB_EMULATOR_HOST", "STORAGE_EMULATOR_HOST"),
}
PLATFORM = {"LOG_EXECUTION_ID"}
"""What Cloud Run functions set themselves."""
SCENARIO = Path(__file__).with_name("scenario.yaml")
TARGETS = ("plan", "drain")
_REQUEST_SECONDS = 60.0


def empty_environment(folder: Path, source: Path) -> Path:
    """Make a virtual environment of the archive's requirements by hash alone, and return its `bin`.

    Raises:
        subprocess.CalledProcessError: a requirement cannot be had, or its hash is another.
    """
    subprocess.run([sys.executable, "-m", "venv", folder], check=True, timeout=300)
    install = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    install += ["--require-hashes", "-r", str(source / "requirements.txt")]
    subprocess.run(install, check=True, timeout=900, capture_output=True, text=True)
    return folder / "bin"


@dataclass(frozen=True)
class RunningEbb:
    gke: SimulatedGkeServers
    ports: Mapping[str, int]
    functions: Mapping[str, Child]

    def tick(self) -> dict[str, Any]:
        """Call the planner as Cloud Scheduler does."""
        response = requests.post(f"http://{HOST}:{self.ports['plan']}/", json={}, timeout=_REQUEST_SECONDS)
        assert response.status_code == 200, response.text + self.functions["plan"].last_lines()
        summary: dict[str, Any] = response.json()
        return summary

    def nodes(self) -> list[dict[str, Any]]:
        return self.gke.list_all("nodes")

    def lines(self, target: str) -> list[str]:
        return self.functions[target].out.read_text().splitlines()


def variables(target: str, ground: Mapping[str, str], state: Mapping[str, str]) -> dict[str, str]:
    """What Terraform sets for a function, and what stands in for the cloud here: `ground` and `state`."""
    shared = {
        "EBB_DECISION_LOG": "changes",
        "EBB_ENDPOINT": "auto",
        "EBB_FIRESTORE_DATABASE": "ebb-zipped",
        "EBB_LOG_LEVEL": "INFO",
        "EBB_POLICY": "gs://policies/policy.yaml",
        "EBB_REJECTED_TOPIC": "projects/local/topics/rejected",
        "EBB_RESULTS_TOPIC": "projects/local/topics/results",
        "EBB_STATE": "firestore",
        "EBB_TOPIC": TOPIC,
        "LOG_EXECUTION_ID": "true",
    }
    own = {
        "plan": {"EBB_INTERVAL_SECONDS": "300", "EBB_PASS_SECONDS": "360", "EBB_WEEKLY_SUMMARY": "mon 9 Etc/UTC"},
        "drain": {"EBB_STEP_SECONDS": "25", "THREADS": "20"},
    }
    return {**shared, **own[target], **ground, **state}


@contextmanager
def running(binaries: Path, source: Path, folder: Path, state: Mapping[str, str]) -> Iterator[RunningEbb]:
    """Start the simulated GKE and both functions, and end them with the block."""
    ports = dict(zip(TARGETS, free_ports(len(TARGETS)), strict=True))
    with ExitStack() as stack:
        gke = SimulatedGkeServers(load(SCENARIO))
        gke.push(TOPIC, f"http://{HOST}:{ports['drain']}/")
        gke.start()
        stack.callback(gke.stop)
        ground, functions = gke.environment(folder), {}
        for target in TARGETS:
            command = [str(binaries / "functions-framework"), "--target", target, "--source", "main.py"]
            command += ["--signature-type", "http", "--host", HOST, "--port", str(ports[target])]
            environment = variables(target, ground, state)
            functions[target] = _started(target, command, source, folder, environment)
            stack.callback(functions[target].close)
        for target, child in functions.items():
            child.wait_until(partial(listens, ports[target]), f"it did not listen on port {ports[target]}")
        yield RunningEbb(gke, ports, functions)


def _started(target: str, command: list[str], source: Path, folder: Path, environment: Mapping[str, str]) -> Child:
    """Start bound to this process, in the source root, with these variables and no other, not even PYTHONPATH."""
    words = [f"{name}={value}" for name, value in environment.items()]
    here = ["sh", "-c", 'cd "$0" && exec "$@"', str(source)]
    clean = ["env", "-i", "PATH=/usr/bin:/bin", f"HOME={folder}", "PYTHONUNBUFFERED=1", *words]
    return Child.bound(target, [*clean, *here, *command], folder)
