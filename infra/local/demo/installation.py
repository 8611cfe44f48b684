"""The demo's installation: Ebb's functions as child processes, and the clients that call them."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlsplit

import infra
from shared.errors import Retryable, Terminal

ROOT: Final = Path(infra.__file__ or "").parent.parent
"""Where `main.py` and the packages stand."""
START_SECONDS: Final = 30.0
END_SECONDS: Final = 12.0
"""Longer than a bound process has between SIGTERM and SIGKILL."""
_POLL_SECONDS: Final = 0.05
_LAST_LINES: Final = 6


class Child:
    """One process under way; what it writes goes to `folder/name.out` and `folder/name.err`."""

    def __init__(self, name: str, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        """`arguments` follow the Python interpreter; `environment` is laid over this process's own."""
        self.name = name
        self.out, self.err = folder / f"{name}.out", folder / f"{name}.err"
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self._process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=ROOT,
                env={**os.environ, **environment},
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

    def wait_until(self, ready: Callable[[], bool], what: str) -> None:
        """Wait for `ready`.

        Raises:
            Terminal: the process ended, or was not ready in time; with the last lines that it wrote.
        """
        until = time.monotonic() + START_SECONDS
        while not ready():
            if self._process.poll() is not None:
                raise Terminal(
                    self.name, f"it ended at its start (exit code {self._process.returncode}).{self.last_words()}"
                )
            if time.monotonic() > until:
                raise Terminal(self.name, f"{what} within {START_SECONDS:.0f} s.{self.last_words()}")
            time.sleep(_POLL_SECONDS)

    def ended(self) -> bool:
        return self._process.poll() is not None

    def let_go(self) -> None:
        """Close the pipe that the process holds on to; it then ends by itself."""
        if self._process.stdin:
            with suppress(BrokenPipeError):
                self._process.stdin.close()

    def close(self, seconds: float = END_SECONDS) -> None:
        """Let the process end; one that has not after `seconds` is killed with all that it started."""
        self.let_go()
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(END_SECONDS)

    def last_words(self) -> str:
        """Return the last lines that the process wrote, each on a line of its own."""
        lines = [line for path in (self.out, self.err) for line in path.read_text(errors="replace").splitlines()]
        return "".join(f"\n  | {line}" for line in lines[-_LAST_LINES:]) or " It said nothing."


def free_ports(count: int) -> list[int]:
    """Return so many different ports on loopback that nobody listens on now."""
    with ExitStack() as held:
        probes = [held.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]


def listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


Json = dict[str, Any]
ME: Final = "ebb-demo"
PERSON: Final = "kubectl (a person)"
_TIMEOUT: Final = 10.0
_GOOD: Final = range(200, 300)


class SimulatedGkeClient:
    """The simulated GKE at the addresses that it said at its start."""

    def __init__(self, addresses: Mapping[str, Any]) -> None:
        self._kube = str(addresses["kube"])
        self._bucket = str(addresses["bucket"])
        self.nodes_of: Mapping[str, list[str]] = addresses["nodes"]
        """Node names of each pool, in the scenario's order."""
        self._read = 0

    def items(self, path: str) -> list[Json]:
        """List one kind of the Kubernetes API, as in `/api/v1/nodes`."""
        found: list[Json] = json.loads(self._ask("GET", self._kube, path))["items"]
        return found

    def cordon(self, node: str) -> None:
        """Cordon a node as a person does with kubectl."""
        headers = {"Content-Type": "application/merge-patch+json", "User-Agent": PERSON}
        self._ask("PATCH", self._kube, f"/api/v1/nodes/{node}", {"spec": {"unschedulable": True}}, headers)

    def schedule(self, url: str, every: float, *, paused: bool = False) -> None:
        """Make, or pause, the scheduler job that calls the planner every so many seconds."""
        self._ask("POST", self._kube, "/_job", {"name": "ebb-tick", "url": url, "every": every, "paused": paused})

    def read_policy(self, bucket: str, name: str) -> str:
        """Read the policy as it lies in the bucket."""
        return self._ask("GET", self._bucket, f"/storage/v1/b/{bucket}/o/{quote(name, safe='')}?alt=media")

    def new_entries(self) -> list[Json]:
        """Return the record's entries since the last call."""
        lines = self._ask("GET", self._kube, f"/_record?from={self._read}").splitlines()
        self._read += len(lines)
        return [json.loads(line) for line in lines]

    def _ask(
        self, method: str, base: str, path: str, body: Json | None = None, headers: Mapping[str, str] | None = None
    ) -> str:
        where = urlsplit(base)
        connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=_TIMEOUT)
        all_headers = {"User-Agent": ME, "Content-Type": "application/json", **(headers or {})}
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None, all_headers)
            response = connection.getresponse()
            text = response.read().decode()
        except (OSError, http.client.HTTPException) as fault:
            raise Retryable("simulated GKE", f"{method} {path}: {fault}") from fault
        finally:
            connection.close()
        if response.status not in _GOOD:
            raise Retryable("simulated GKE", f"{method} {path}: {response.status} {text[:200]}")
        return text


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
