"""Leaves what the demo started up, so that a person can try the commands on it, until Ctrl-C.

Must not tell the story.
"""

import shlex
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from infra.local.demo.installation import DemoInstallation
from infra.local.demo.screen import Screen

PROFILE: Final = "demo.env"
LOOK_SECONDS: Final = 1.0
_SHOWN: Final = (
    "EBB_CLUSTER", "EBB_TOPIC", "EBB_STATE", "EBB_POLICY", "EBB_KUBECONFIG", "EBB_GKE_API", "PUBSUB_EMULATOR_HOST",
    "STORAGE_EMULATOR_HOST", "GOOGLE_CLOUD_PROJECT",
)  # fmt: skip
"""What a command needs; the rest is the functions' own."""


def keep_up(
    screen: Screen,
    installation: DemoInstallation,
    folder: Path,
    check: Callable[[], None],
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Say how to try the commands, and wait for Ctrl-C; `check` raises when a process has ended."""
    profile = folder / PROFILE
    profile.write_text(profile_of(installation.environment), encoding="utf-8")
    for line in introduction(profile, a_node(installation)):
        screen.say(line)
    try:
        while True:
            sleep(LOOK_SECONDS)
            check()
    except KeyboardInterrupt:
        screen.say("Stopping: what was started is being ended.")


def profile_of(environment: Mapping[str, str]) -> str:
    """Return the variables as a file that --cluster reads and a shell may source."""
    return "".join(f"export {name}={shlex.quote(environment[name])}\n" for name in _SHOWN if name in environment)


def a_node(installation: DemoInstallation) -> str:
    """Return a node that is still there and that nobody has cordoned."""
    nodes = installation.gke.items("/api/v1/nodes")
    return next((each["metadata"]["name"] for each in nodes if not each["spec"].get("unschedulable")), "NODE")


def introduction(profile: Path, node: str) -> tuple[str, ...]:
    """Return what can be tried."""
    return (
        "",
        "The simulated GKE and both functions stay up until Ctrl-C; the planner goes on every 2 s. In another shell:",
        "",
        f"  ebb status  --cluster {profile}",
        f"  ebb history --cluster {profile}",
        f"  ebb drain {node} --dry-run --cluster {profile}",
        f"  ebb pause   --cluster {profile} --reason 'to see what happens'",
        f"  ebb resume  --cluster {profile}",
        "",
        "Or, once for a shell, also for ebb plan and ebb explain:",
        "",
        f"  . {profile}",
        "",
    )
