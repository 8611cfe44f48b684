"""`python -m infra.local.demo`: the demo as a process of its own, which `ebb demo` becomes.

It runs the story, checks the promise, and keeps the cluster up where that is requested.
"""

import argparse
import shlex
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

from infra.local.demo.evidence import Evidence, PassRecord, limits_of, pdb_rules_of
from infra.local.demo.installation import EVERY, DemoInstallation, start_all
from infra.local.demo.promise import PromiseResult, check
from infra.local.demo.screen import Screen, table
from infra.local.demo.story import MOST_SECONDS, Story, new_story, show_closing
from shared.errors import EbbError

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
    """Show how to try the commands, and wait for Ctrl-C; `check` raises when a process has ended."""
    profile, nodes = folder / PROFILE, installation.gke.list_all("nodes")
    profile.write_text(profile_of(installation.environment), encoding="utf-8")
    uncordoned = (node["metadata"]["name"] for node in nodes if not node["spec"].get("unschedulable"))
    for line in introduction(profile, next(uncordoned, "NODE")):
        screen.write(line)
    try:
        while True:
            sleep(LOOK_SECONDS)
            check()
    except KeyboardInterrupt:
        screen.write("Stopping all processes of the demo.")


def profile_of(environment: Mapping[str, str]) -> str:
    """Return the variables as a file that --cluster reads and a shell may source."""
    return "".join(f"export {name}={shlex.quote(environment[name])}\n" for name in _SHOWN if name in environment)


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
    """Run the demo and return the exit code: 0 when every promise was kept, 1 when one was broken.

    `logs`: a folder that logs, state and the API's record are copied to at the end. `keep`: leave everything up until
    Ctrl-C, for a person to try the commands on.

    Raises:
        Terminal: a process did not start or did not last.
    """
    begun = time.monotonic()
    screen = Screen()
    screen.write("Ebb on a simulated GKE on this machine: the two functions as they run in production,", "bold")
    screen.write("each a process of its own, on loopback. It takes about 50 seconds; Ctrl-C ends it.", "bold")
    try:
        with _ended_by_signals(), tempfile.TemporaryDirectory(prefix="ebb-demo-") as name:
            folder = Path(name)
            try:
                return _run(screen, folder, begun, keep=keep)
            finally:
                if logs is not None:
                    shutil.copytree(folder, logs, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.bound"))
    except KeyboardInterrupt:
        screen.write("Stopped: all processes of the demo have ended.")
        return STOPPED


def _run(screen: Screen, folder: Path, begun: float, *, keep: bool) -> int:
    with start_all(folder) as installation:
        story = new_story(installation, screen, folder, begun)
        list_all = installation.gke.list_all
        controllers = [*list_all("deployments"), *list_all("statefulsets")]
        pdb_rules = pdb_rules_of(list_all("poddisruptionbudgets"), controllers)
        try:
            story.run_story()
        except KeyboardInterrupt:
            screen.write("Stopping all processes of the demo.")
            raise
        passes = story.narration.passes
        evidence = Evidence(
            entries=story.entries,
            pdb_rules=pdb_rules,
            limits=limits_of(installation.policy, EVERY),
            passes=[PassRecord(count, passes.verdicts.get(run_id, [])) for run_id, count in passes.nodes.items()],
            cordoned_by_persons=frozenset({story.persons_node}),
        )
        show_closing(story)
        findings = (_reached_its_steady_state(story), *check(evidence))
        _show(screen, findings, time.monotonic() - begun)
        if keep:
            keep_up(screen, installation, folder, story.check_processes)
    return KEPT if all(finding.kept for finding in findings) else BROKEN


def _reached_its_steady_state(story: Story) -> PromiseResult:
    breaches = () if story.is_steady() else (f"after {MOST_SECONDS:.0f} s something was still under way",)
    return PromiseResult("The cluster reached its steady state", f"{story.view.alive} nodes", breaches)


def _show(screen: Screen, findings: tuple[PromiseResult, ...], seconds: float) -> None:
    screen.act("The promise, checked from the API server's own record by code that shares nothing with Ebb:")
    rows = table(("promise", "examined", "result"))
    for finding in findings:
        style = "green" if finding.kept else "bold red"
        rows.add_row(finding.promise, finding.examined, "kept" if finding.kept else "BROKEN", style=style)
    screen.show(rows)
    for finding in findings:
        for breach in finding.breaches:
            screen.write(f"BROKEN  {finding.promise}: {breach}", "bold red")
    kept = all(finding.kept for finding in findings)
    screen.write()
    result = "Every promise was kept." if kept else "A promise was broken."
    style = "bold green" if kept else "bold red"
    screen.write(f"{result} {seconds:.0f} s in all (bound: {_ADVERTISED_SECONDS} s).", style)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGINT end the block, so that what was started is ended.

    A shell starts a background job with SIGINT ignored, which Python does not change by itself.
    """

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def main(words: Sequence[str] | None = None) -> int:
    """Run the demo and return its exit code; a process that does not start is one sentence on stderr."""
    parser = argparse.ArgumentParser(prog="ebb demo", description="Watch the whole loop on a simulated GKE.")
    parser.add_argument("--logs", type=Path, metavar="FOLDER", help="keep the output of the processes in this folder")
    parser.add_argument("--keep", action="store_true", help="leave everything up until Ctrl-C, to try the commands on")
    arguments = parser.parse_args(words)
    try:
        return run(arguments.logs, keep=arguments.keep)
    except EbbError as failure:
        sys.stderr.write("".join(f"ebb: {sentence}\n" for sentence in str(failure).splitlines()))
        return BROKEN


if __name__ == "__main__":
    sys.exit(main())
