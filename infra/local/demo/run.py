"""Runs the demo: story, promise check, and the cluster kept up for a look where asked."""

import shlex
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

from infra.local.demo.evidence import Evidence, PassRecord, limits_of, pdb_rules_of
from infra.local.demo.installation import DemoInstallation, running
from infra.local.demo.promise import PromiseResult, check
from infra.local.demo.screen import Screen, table
from infra.local.demo.story import EVERY, MOST_SECONDS, Story, new_story, show_closing

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


KEPT: Final = 0
BROKEN: Final = 1
STOPPED: Final = 130
"""What a shell reports of a command that Ctrl-C ended."""
_ADVERTISED_SECONDS: Final = 60


def run(logs: Path | None, *, keep: bool = False) -> int:
    """Tell the story and return the exit code: 0 when every promise was kept, 1 when one was broken.

    `logs`: a folder that logs, state and the API's record are copied to at the end. `keep`: leave all that runs up
    until Ctrl-C, for a person to try the commands on.

    Raises:
        Terminal: a process did not start or did not last.
        Retryable: the simulated GKE did not answer.
    """
    begun = time.monotonic()
    screen = Screen()
    screen.say("Ebb on a simulated GKE on this machine: the two functions as they run in production,", "bold")
    screen.say("each a process of its own, on loopback. It takes about 45 seconds; Ctrl-C ends it.", "bold")
    try:
        with _ended_by_signals(), tempfile.TemporaryDirectory(prefix="ebb-demo-") as name:
            folder = Path(name)
            try:
                return _run(screen, folder, begun, keep=keep)
            finally:
                if logs is not None:
                    shutil.copytree(folder, logs, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.bound"))
    except KeyboardInterrupt:
        screen.say("Stopped; everything that was started has been ended.")
        return STOPPED


def _run(screen: Screen, folder: Path, begun: float, *, keep: bool) -> int:
    with running(folder) as installation:
        story = new_story(installation, screen, folder, begun)
        pdb_rules = pdb_rules_of(
            installation.gke.items("/apis/policy/v1/poddisruptionbudgets"), _controllers(installation)
        )
        try:
            story.run_story()
        except KeyboardInterrupt:
            screen.say("Stopping: what was started is being ended.")
            raise
        evidence = Evidence(
            entries=story.entries,
            pdb_rules=pdb_rules,
            limits=limits_of(installation.policy, EVERY),
            passes=_passes(story),
            cordoned_by_persons=frozenset({story.persons_node}),
        )
        show_closing(story)
        findings = (_came_to_rest(story), *check(evidence))
        _show(screen, findings, time.monotonic() - begun)
        if keep:
            keep_up(screen, installation, folder, story.check_processes)
    return KEPT if all(finding.kept for finding in findings) else BROKEN


def _came_to_rest(story: Story) -> PromiseResult:
    breaches = () if story.at_rest() else (f"after {MOST_SECONDS:.0f} s something was still under way",)
    return PromiseResult("The cluster came to rest", f"{story.view.alive} nodes", breaches)


def _controllers(installation: DemoInstallation) -> list[dict[str, object]]:
    return [
        each for kind in ("deployments", "statefulsets") for each in installation.gke.items(f"/apis/apps/v1/{kind}")
    ]


def _passes(story: Story) -> list[PassRecord]:
    heard = story.narration.passes
    return [PassRecord(count, heard.verdicts.get(run_id, [])) for run_id, count in heard.nodes.items()]


def _show(screen: Screen, findings: tuple[PromiseResult, ...], seconds: float) -> None:
    screen.act("The promise, checked from the API server's own record by code that shares nothing with Ebb:")
    rows = table(("promise", "looked at", "result"))
    for finding in findings:
        style = "green" if finding.kept else "bold red"
        rows.add_row(finding.promise, finding.looked_at, "kept" if finding.kept else "BROKEN", style=style)
    screen.show(rows)
    for finding in findings:
        for breach in finding.breaches:
            screen.say(f"BROKEN  {finding.promise}: {breach}", "bold red")
    kept = all(finding.kept for finding in findings)
    screen.say()
    result = "Every promise was kept." if kept else "A promise was broken."
    style = "bold green" if kept else "bold red"
    screen.say(f"{result} {seconds:.0f} s in all (bound: {_ADVERTISED_SECONDS} s).", style)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGINT end the block, so that what was started is ended.

    A shell starts a background job with SIGINT ignored, and Python then leaves it so: it is asked for here.
    """

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
