"""The story: a few acts, each opened by the first event of its kind, until the cluster's steady state."""

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from infra.local.demo.installation import EVERY, POLICY, DemoInstallation
from infra.local.demo.narration import Narration, StoryEvent, Tail
from infra.local.demo.screen import ClusterView, Screen, Sign, ViewBuilder
from shared.errors import Terminal

LOOK_SECONDS: Final = 0.4
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
    narration: Narration
    logs: tuple[Tail, ...]
    views: ViewBuilder
    begun: float
    view: ClusterView
    record: Path
    """Where the API's record is kept, as it grows."""
    entries: list[Any] = field(default_factory=list)

    def run_story(self) -> None:
        """Run until the steady state, or until too much time has passed. Raises Terminal when a process ended."""
        self.show_opening()
        cordon = {"spec": {"unschedulable": True}}
        self.installation.gke.send(PERSON, "PATCH", f"/api/v1/nodes/{self.persons_node}", cordon)
        self.installation.gke.call("ebb-tick", self.installation.plan_url, EVERY)
        with self.screen:
            while not self.is_steady() and self.seconds() < MOST_SECONDS:
                time.sleep(LOOK_SECONDS)
                self.refresh()
                self.check_processes()

    def check_processes(self) -> None:
        """Raise Terminal when a function has ended, or the planner does not get a first pass done."""
        if not self.installation.gke.alive():
            raise Terminal("simulated GKE", "a part of it failed in the middle of the story; its traceback is above.")
        for name, child in (("planner", self.installation.planner), ("drainer", self.installation.drainer)):
            if child.ended():
                raise Terminal(name, f"the process ended in the middle of the story.{child.last_lines()}")
        if not self.narration.passes.summaries and self.seconds() > FIRST_PASS_SECONDS:
            lines = self.installation.planner.last_lines()
            raise Terminal("planner", f"it completed no pass within {FIRST_PASS_SECONDS:.0f} s.{lines}")

    @property
    def persons_node(self) -> str:
        return self.installation.gke.cloud.node_names["web"][_PERSONS_NODE]

    def show_opening(self) -> None:
        """Show the cluster and the policy."""
        self.read_record()
        self.refresh_view()
        alone = self.installation.alone
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
        for tail in self.logs:
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
        with self.record.open("a", encoding="utf-8") as file:
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
        self.view = self.views.build(gke.list_all("nodes"), gke.list_all("pods"))

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
        return quiet and self.view.unsettled == 0 and not self.narration.wave


def new_story(installation: DemoInstallation, screen: Screen, folder: Path, begun: float) -> Story:
    """Return a story that has not begun; the functions' logs are in `folder`."""
    logs = (Tail(folder / "planner.out"), Tail(folder / "drainer.out"))
    return Story(
        installation, screen, Narration(), logs, ViewBuilder(), begun, ClusterView((), 0, 0), folder / "record.jsonl"
    )


def show_closing(story: Story) -> None:
    """Show the cluster as it is now, and what it costs now and cost before."""
    state = "is in its steady state" if story.is_steady() else f"still changes after {MOST_SECONDS:.0f} s"
    before, alone = len(story.views.first), len(story.installation.alone.nodes)
    story.screen.act(
        f"The cluster {state}: {before} nodes before, {alone} with the autoscaler alone, "
        f"{story.view.alive} now{_saved(story)}."
    )
    story.screen.still(story.view, {**story.narration.signs, story.persons_node: Sign.PERSON})


def _saved(story: Story) -> str:
    costs = story.narration.passes.dollars_per_hour
    before, after = costs[0] * _HOURS_PER_MONTH, costs[-1] * _HOURS_PER_MONTH
    less = f"${before - after:,.0f} a month less ({(before - after) / before:.0%})"
    return f"; ${before:,.0f} a month before, ${after:,.0f} now: {less}, at list prices"
