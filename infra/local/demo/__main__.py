"""`python -m infra.local.demo`: the story, the check of the promise, and a cluster that stays up on request.

Each function runs as a process of its own, configured by environment variables alone, as in production.
"""

import argparse
import json
import shlex
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from rich.table import Table

from infra.local.demo.evidence import Evidence, PassRecord, limits_of
from infra.local.demo.installation import EVERY, POLICY, DemoInstallation, start_all
from infra.local.demo.narration import Narration, StoryEvent, Tail
from infra.local.demo.promise import PromiseResult, check
from infra.local.demo.screen import ClusterView, Screen, Sign
from shared.errors import EbbError, Terminal

PROFILE: Final = "demo.env"
LOOK_SECONDS: Final = 1.0
STORY_LOOK_SECONDS: Final = 0.4
MOST_SECONDS: Final = 120.0
"""Several times what it takes; then the promise is checked on what there is."""
FIRST_PASS_SECONDS: Final = 30.0
_PERSONS_NODE: Final = 9
PERSON: Final = "kubectl (a person)"
_HOURS_PER_MONTH: Final = 730
ACTS: Final = {
    "marks": "Cloud Scheduler calls the planner. It marks the nodes that could go, and names why others stay.",
    "wave": "The marks are old enough. The planner has proved by simulation that the pods of these nodes all fit on "
    "the other nodes: a wave. A soft taint lets the scheduler prefer other nodes, so that no pod moves twice.",
    "orders": "The planner publishes as many drain orders as the budgets allow.",
    "drains": "The drainer claims each node against the budgets and cordons it; 5 s later it evicts the pods.",
    "held": "PodDisruptionBudgets hold evictions back until the pods that moved before are ready again.",
    "autoscaler": "The autoscaler also works on its own. Pool batch is not switched on in the policy: its nodes "
    "are left to the autoscaler alone.",
    "gone": "Empty nodes are left to the cluster autoscaler, which deletes them. Ebb deletes nothing.",
    "uncordoned": "One drain cannot finish: a replacement never gets ready, so its PDB never lets the next pod go. "
    "At the deadline the node is uncordoned.",
}


@dataclass
class Story:
    """One run of the demo: the story so far, and the cluster as it was last seen."""

    installation: DemoInstallation
    screen: Screen
    begun: float
    folder: Path
    """Where the functions' logs are, and the API's record is kept as it grows."""
    narration: Narration = field(default_factory=Narration)
    view: ClusterView = field(default_factory=ClusterView)
    first: int = 0
    """How many nodes there were at first."""
    entries: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._logs = (Tail(self.folder / "planner.out"), Tail(self.folder / "drainer.out"))

    def run_story(self) -> None:
        """Run until the steady state, or until too much time has passed. Raises Terminal when a process ended."""
        self.show_opening()
        cordon = {"spec": {"unschedulable": True}}
        self.installation.gke.send(PERSON, "PATCH", f"/api/v1/nodes/{self.persons_node}", cordon)
        self.installation.gke.call("ebb-tick", self.installation.plan_url, EVERY)
        with self.screen.redraw():
            while not self.is_steady() and self.seconds() < MOST_SECONDS:
                time.sleep(STORY_LOOK_SECONDS)
                self.refresh()
                self.check_processes()

    def check_processes(self) -> None:
        """Raise Terminal when a function has ended, or the planner does not get a first pass done."""
        if not self.installation.gke.alive():
            raise Terminal("simulated GKE", "one of its parts failed; its traceback is above.")
        for name, child in (("planner", self.installation.planner), ("drainer", self.installation.drainer)):
            if child.has_ended():
                raise Terminal(name, f"the process ended in the middle of the story.{child.last_lines()}")
        if not self.narration.passes.summaries and self.seconds() > FIRST_PASS_SECONDS:
            lines = self.installation.planner.last_lines()
            raise Terminal("planner", f"it completed no pass within {FIRST_PASS_SECONDS:.0f} s.{lines}")

    @property
    def persons_node(self) -> str:
        return self.installation.gke.cloud.node_names["web"][_PERSONS_NODE]

    def show_opening(self) -> None:
        self.read_record()
        self.refresh_view()
        self.first, alone = self.view.alive, self.installation.alone
        self.screen.act(
            f"A GKE cluster after its evening scale-in: {self.view.alive} nodes, {self.view.pods} pods, "
            f"{self.view.mean_share:.0%} of the CPU requested. GKE's autoscaler drains and deletes nodes below "
            f"{alone.gate:.0%}; the others it keeps, though their pods would fit on fewer. Alone it would remove "
            f"{len(alone.removed)} and stop at {len(alone.nodes)} nodes (a simulation of this very cluster)."
        )
        self.screen.still(self.view, {})
        self.screen.act(f"The policy ({POLICY}), with times made short for this demo:")
        for line in self.installation.policy.splitlines():
            self.screen.write(f"   {line}", "cyan")

    def refresh(self) -> None:
        """Read what is new, narrate it, and draw the cluster as it is now."""
        self.refresh_view()
        for tail in self._logs:
            for line in tail.lines():
                for event in self.narration.narrate(line):
                    self.show_event(event)
        for entry in self.read_record():
            for event in self.narration.node_changed(entry):
                self.show_event(event)
        self.screen.move(self.view, self.narration.signs, self.status())

    def read_record(self) -> list[Any]:
        new_entries = self.installation.gke.entries(len(self.entries))
        self.entries += new_entries
        with (self.folder / "record.jsonl").open("a", encoding="utf-8") as file:
            file.writelines(f"{json.dumps(entry)}\n" for entry in new_entries)
        return new_entries

    def show_event(self, event: StoryEvent) -> None:
        if event.act and self.narration.is_first_of(event.act):
            self.screen.act(ACTS[event.act])
            if event.act == "gone" and not self.screen.moving:
                self.screen.still(self.view, self.narration.signs)
        self.screen.event(self.seconds(), event.node, event.text, event.sign)

    def refresh_view(self) -> None:
        gke = self.installation.gke
        self.view.look(gke.list_all("nodes"), gke.list_all("pods"))

    def seconds(self) -> float:
        return time.monotonic() - self.begun

    def status(self) -> str:
        costs = self.narration.passes.dollars_per_hour
        month = f", ${costs[-1] * _HOURS_PER_MONTH:,.0f} a month" if costs else ""
        counted = f"{self.view.alive} nodes, {self.view.pods} pods"
        return f" {self.seconds():4.0f} s  {counted}, {self.view.mean_share:.0%} of CPU requested{month} "

    def is_steady(self) -> bool:
        """Whether the last pass ordered nothing, nothing is in flight or in a wave, and every pod runs."""
        passes = self.narration.passes.summaries
        quiet = bool(passes) and not any(passes[-1][word] for word in ("order", "in_flight", "waiting"))
        return quiet and self.view.unsettled == 0 and self.narration.wave <= self.narration.costly

    def show_closing(self) -> None:
        state = "is in its steady state" if self.is_steady() else f"still changes after {MOST_SECONDS:.0f} s"
        alone = len(self.installation.alone.nodes)
        costs = [cost * _HOURS_PER_MONTH for cost in self.narration.passes.dollars_per_hour]
        before, now = costs[0], costs[-1]
        self.screen.act(
            f"The cluster {state}: {self.first} nodes before, {alone} with the autoscaler alone, {self.view.alive} "
            f"now; ${before:,.0f} a month before, ${now:,.0f} now: ${before - now:,.0f} a month less "
            f"({(before - now) / before:.0%}), at list prices."
        )
        self.screen.still(self.view, {**self.narration.signs, self.persons_node: Sign.PERSON})


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
    return "".join(f"export {name}={shlex.quote(value)}\n" for name, value in environment.items())


def introduction(profile: Path, node: str) -> tuple[str, ...]:
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

    `logs`: a folder for logs, state and the API's record. `keep`: leave all up until Ctrl-C. Raises Terminal: a process
    did not start or last.
    """
    begun = time.monotonic()
    screen = Screen()
    screen.write("Ebb on a simulated GKE on this machine: the two functions as they run in production,", "bold")
    screen.write("each a process of its own, on loopback. It takes about 50 seconds; Ctrl-C ends it.", "bold")
    try:
        for number in (signal.SIGTERM, signal.SIGINT):  # a shell starts a background job with SIGINT ignored
            signal.signal(number, signal.default_int_handler)
        with tempfile.TemporaryDirectory(prefix="ebb-demo-") as name:
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
        story = Story(installation, screen, begun, folder)
        try:
            story.run_story()
        except KeyboardInterrupt:
            screen.write("Stopping all processes of the demo.")
            raise
        passes = story.narration.passes
        evidence = Evidence(
            entries=story.entries,
            limits=limits_of(installation.policy, EVERY),
            passes=[PassRecord(count, passes.verdicts.get(run_id, [])) for run_id, count in passes.nodes.items()],
            cordoned_by_persons=frozenset({story.persons_node}),
            costly=story.narration.costly,
        )
        story.show_closing()
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
    rows = Table("promise", "examined", "result", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    rows.header_style = "bright_black"
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
