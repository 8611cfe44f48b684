"""`make playground`: the end-to-end test's cluster with Ebb at work, left up to play with until Ctrl-C."""

import signal
import sys
import threading
from contextlib import ExitStack

import requests

from tests.real.control_plane import ControlPlane, missing
from tests.real.emulators import FirestoreEmulator, PubSubEmulator
from tests.real.installation import Installation, RealServices
from tests.real.shop_cluster import POLICY, POOLS, populate

EVERY_SECONDS = 15.0


def main() -> int:
    lacking = [each for each in (missing(), FirestoreEmulator.missing(), PubSubEmulator.missing()) if each]
    if lacking:
        say(*lacking)
        return 1
    stop = threading.Event()
    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, lambda *_: stop.set())
    with ExitStack() as stack:
        say("Starting etcd, kube-apiserver, controller manager, scheduler, kwok and the emulators …")
        plane = stack.enter_context(ControlPlane())
        firestore, pubsub = stack.enter_context(FirestoreEmulator()), stack.enter_context(PubSubEmulator())
        say("Making 20 nodes and 80 pods …")
        populate(plane.api)
        services = RealServices(plane.kubeconfig, plane.proxy_url, firestore.host, pubsub.host)
        installation = stack.enter_context(Installation(services, POLICY, POOLS))
        introduce(plane, installation)
        while not stop.wait(EVERY_SECONDS):
            pass_once(installation)
    return 0


def introduce(plane: ControlPlane, installation: Installation) -> None:
    say(
        "",
        f"export KUBECONFIG={plane.kubeconfig}",
        *(f"export {name}={value}" for name, value in sorted(installation.environment.items())),
        "",
        f"The planner is called every {EVERY_SECONDS:.0f} s; call it yourself:",
        f"  curl -X POST http://127.0.0.1:{installation.planner_port}/",
        "Look at the nodes:  kubectl get nodes;  at a plan:  ebb plan",
        "Stop everything with Ctrl-C.",
        "",
    )


def pass_once(installation: Installation) -> None:
    try:
        summary = installation.tick()
    except (AssertionError, requests.RequestException) as failure:
        say(str(failure))
        return
    say(f"{summary['verdicts']}, ordered: {', '.join(summary['orders']) or 'none'}")


def say(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
