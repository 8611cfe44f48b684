"""`python -m infra.local`: the simulated GKE on loopback, or a scenario with the autoscaler alone."""

import argparse
import json
import logging
import signal
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from infra.local.bound_process import starter_has_gone
from infra.local.broker import Subscription
from infra.local.clocks import ManualClock
from infra.local.scaling.autoscaler import Autoscaler
from infra.local.scenario import Scenario, ScenarioError, load
from infra.local.servers import SimulatedGkeServers
from infra.local.simulated_gke import SimulatedGke
from infra.local.whole_world import World

DAY = 86_400.0
_STEP = 1.0
_WATCHED = ("nodes", "pods")


@dataclass(frozen=True)
class RestingCluster:
    """What is left in the steady state; `is_rest` is False if that took too long.

    `gate` is the share of CPU and memory requested above which no node was a candidate.
    """

    nodes: tuple[str, ...]
    removed: tuple[str, ...]
    evictions: int
    seconds: float
    is_rest: bool
    gate: float


def alone(scenario: Scenario, most: float = DAY) -> RestingCluster:
    """Build the scenario and leave it to its autoscaler."""
    clock = ManualClock()
    cloud = SimulatedGke(scenario, clock)
    cloud.world.settle()
    return until_rest(cloud.world, cloud.autoscaler(), clock, most)


def until_rest(world: World, autoscaler: Autoscaler, clock: ManualClock, most: float = DAY) -> RestingCluster:
    """Let time pass until the autoscaler wants nothing and nothing has changed while it checked every node again."""
    begun, before = clock.now(), _names(world)
    seen, since = -1, begun
    while not (is_rest := autoscaler.is_idle() and clock.now() - since > autoscaler.rechecks_within):
        if clock.now() - begun >= most:
            break
        world.step()
        autoscaler.step()
        if world.store.version(*_WATCHED) != seen:
            seen, since = world.store.version(*_WATCHED), clock.now()
        clock.advance(_STEP)
    left = _names(world)
    removed = tuple(name for name in before if name not in left)
    return RestingCluster(
        left, removed, len(world.record.of("eviction")), clock.now() - begun, is_rest, autoscaler.gate
    )


def _names(world: World) -> tuple[str, ...]:
    return tuple(node["metadata"]["name"] for node in world.store.all("nodes"))


_POLL_SECONDS = 0.5
DEMO = Path(__file__).parent / "scenarios" / "demo.yaml"


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m infra.local", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    up = commands.add_parser("up", help="start a scenario")
    alone = commands.add_parser("alone", help="simulate what the scenario's autoscaler reaches by itself")
    for command in (up, alone):
        command.add_argument("--scenario", type=Path, default=DEMO, help="the scenario file (default: the demo)")
    up.add_argument("--folder", type=Path, help="where the kubeconfig is written (default: a temporary folder)")
    up.add_argument("--push", action="append", default=[], metavar="TOPIC=URL", help="push a topic's messages to a URL")
    up.add_argument("--window", type=int, default=3, help="how many pushes at once a new subscription begins with")
    up.add_argument("--held", action="store_true", help="end also when standard input closes (its holder has ended)")
    return parser.parse_args(words)


def _connect(cloud: SimulatedGke, arguments: argparse.Namespace) -> None:
    for entry in arguments.push:
        topic, _, url = entry.partition("=")
        cloud.broker.topics.add(topic)
        name = topic.replace("/topics/", "/subscriptions/")
        cloud.broker.subscribe(Subscription(name, topic, url, first_window=arguments.window))


def _print_alone(scenario: Scenario) -> int:
    """Print what is left, and the gate below which the autoscaler takes nodes."""
    rest = alone(scenario)
    summary = {"nodes": len(rest.nodes), "removed": len(rest.removed), "evictions": rest.evictions, "gate": rest.gate}
    sys.stdout.write(json.dumps(summary) + "\n")
    return int(not rest.is_rest)


def _run(arguments: argparse.Namespace, folder: Path) -> int:
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    gke = SimulatedGkeServers(load(arguments.scenario))
    _connect(gke.cloud, arguments)
    gke.start()
    sys.stdout.write(json.dumps(gke.addresses(folder)) + "\n")
    sys.stdout.flush()
    while gke.alive() and not stop.wait(_POLL_SECONDS) and not (arguments.held and starter_has_gone(0)):
        pass
    failed = not gke.alive()
    gke.stop()
    return int(failed)


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line.

    Returns 0 when it was stopped or reached its steady state, 1 if a part failed or it did not reach that, 2 if
    the scenario cannot be used.
    """
    arguments = _arguments(words)
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    try:
        if arguments.command == "alone":
            return _print_alone(load(arguments.scenario))
        with tempfile.TemporaryDirectory(prefix="ebb-local-") as folder:
            return _run(arguments, arguments.folder or Path(folder))
    except ScenarioError as error:
        sys.stderr.write(f"{error}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())
