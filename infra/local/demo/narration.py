"""What the demo prints about each log line of the functions."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from infra.local.demo.evidence import is_in_wave
from infra.local.demo.screen import Sign
from infra.local.scaling.view import TO_BE_DELETED

_LABELS: Final = "logging.googleapis.com/labels"


@dataclass(frozen=True)
class LogLine:
    """One decision: its event, the node it is about (or empty), its reason's word, and all its fields."""

    event: str
    node: str
    reason: str
    run_id: str
    fields: Mapping[str, Any]

    @property
    def message(self) -> str:
        return str(self.fields.get("message", ""))


class Tail:
    """Reads the lines that were added to a log since the last call."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = 0

    def lines(self) -> Iterator[LogLine]:
        """Give the new whole lines; what is no JSON object, such as a traceback, is skipped."""
        data = self._path.read_bytes()[self._at :]
        whole = data[: data.rfind(b"\n") + 1]
        self._at += len(whole)
        for text in whole.splitlines():
            if text.startswith(b"{"):
                entry = json.loads(text)
                labels = {name: entry.get(_LABELS, {}).get(name, "") for name in ("event", "node", "reason", "run_id")}
                yield LogLine(**labels, fields=entry)


@dataclass(frozen=True)
class StoryEvent:
    """One line of the story; `act` is the act that it opens where it is the first of its kind."""

    node: str
    text: str
    sign: Sign = Sign.STAYS
    act: str = ""


@dataclass
class Passes:
    nodes: dict[str, int] = field(default_factory=dict)
    verdicts: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    summaries: list[Mapping[str, int]] = field(default_factory=list)
    dollars_per_hour: list[float] = field(default_factory=list)


class Narration:
    """Remembers just enough to narrate each thing once."""

    def __init__(self) -> None:
        self.signs: dict[str, Sign] = {}
        self.passes = Passes()
        self._has_marked = False
        self._held: dict[tuple[str, str], str] = {}
        self._narrated: set[str] = set()
        self._taken: set[str] = set()
        self.wave: set[str] = set()
        """Nodes that carry the soft taint of a wave, or of `costly` nodes."""
        self.costly: frozenset[str] = frozenset()
        self._opened: set[str] = set()
        self._narrators: Mapping[str, Callable[[LogLine], Iterator[StoryEvent]]] = {
            "cluster_state": self._state,
            "node_decision": self._decision,
            "run_summary": self._summary,
            "wave": self._wave_changed,
            "order_published": self._stage,
            "drain_step": self._stage,
            "eviction": self._eviction,
            "drain_result": self._stage,
            "healed": self._message,
            "policy_invalid": self._message,
        }

    def narrate(self, line: LogLine) -> Iterator[StoryEvent]:
        narrator = self._narrators.get(line.event)
        if narrator is not None:
            yield from narrator(line)

    def is_first_of(self, act: str) -> bool:
        first = act not in self._opened
        self._opened.add(act)
        return first

    def node_changed(self, entry: Mapping[str, Any]) -> Iterator[StoryEvent]:
        """Take an entry of the API's record and give what it adds; an autoscaler's drain after Ebb's is no news."""
        if entry["type"] != "change" or entry["kind"] != "nodes":
            return
        node = entry["name"]
        self._follow_wave(node, is_held=entry["verb"] != "delete" and is_in_wave(entry))
        if entry["verb"] == "delete":
            act = "autoscaler" if node in self._taken else "gone"
            self.signs[node] = Sign.GONE
            yield StoryEvent(node, "deleted by the autoscaler: no longer paid for", Sign.GONE, act)
            return
        drains = any(taint.startswith(TO_BE_DELETED) for taint in entry["taints"])
        if drains and self.signs.get(node) not in _OURS and node not in self._taken:
            self._taken.add(node)
            self.signs[node] = Sign.AUTOSCALER
            text = "below the autoscaler's gate: it moves the pods by itself, and deletes the node"
            yield StoryEvent(node, text, Sign.AUTOSCALER, "autoscaler")

    def _follow_wave(self, node: str, *, is_held: bool) -> None:
        (self.wave.add if is_held else self.wave.discard)(node)
        sign = self.signs.get(node, Sign.STAYS)
        if sign in _WAITS:
            self.signs[node] = self._of_wave(node, sign)

    def _of_wave(self, node: str, sign: Sign) -> Sign:
        if node in self.wave - self.costly:
            return Sign.WAVE
        return Sign.STAYS if sign is Sign.WAVE else sign

    def _wave_changed(self, line: LogLine) -> Iterator[StoryEvent]:
        if line.reason == "begun":
            yield StoryEvent("", f"a wave begins, nodes: {line.fields['nodes']}", Sign.WAVE, "wave")
        elif line.reason == "costly":
            self.costly = frozenset(line.message.partition(": ")[2].removesuffix(".").split(", "))
        elif line.reason != "shrunk":
            yield StoryEvent("", line.message, Sign.WAVE)

    def _state(self, line: LogLine) -> Iterator[StoryEvent]:
        self.passes.nodes[line.run_id] = int(line.fields["nodes"])
        self.passes.dollars_per_hour.append(float(line.fields["cost_per_hour"]))
        return iter(())

    def _decision(self, line: LogLine) -> Iterator[StoryEvent]:
        self.passes.verdicts.setdefault(line.run_id, []).append((line.node, line.reason))
        sign = None if line.node in self._taken else _sign(line)
        if sign is not None:
            self.signs[line.node] = self._of_wave(line.node, sign) if sign in _WAITS else sign
        if sign in _NARRATED and line.node not in self._narrated:
            self._narrated.add(line.node)
            yield StoryEvent(line.node, f"kept: {_why(line.fields['blockers'][0])}", sign, "marks")

    def _summary(self, line: LogLine) -> Iterator[StoryEvent]:
        if "verdicts" not in line.fields:
            yield StoryEvent("", line.message)
            return
        counts = line.fields["verdicts"]
        self.passes.summaries.append(counts)
        if counts["waiting"] and not self._has_marked:
            self._has_marked = True
            yield StoryEvent("", f"{counts['waiting']} nodes marked, {counts['keep']} kept", Sign.MARKED, "marks")

    def _stage(self, line: LogLine) -> Iterator[StoryEvent]:
        fields = line.fields
        stage = "ordered" if line.event == "order_published" else fields.get("phase") or fields.get("outcome") or ""
        if stage in _STAGES:
            text, sign, act = _STAGES[stage]
            self.signs[line.node] = sign
            said = text.format(reason=line.reason, detail=fields.get("detail") or line.message)
            yield StoryEvent(line.node, said, sign, act)
        elif stage == "refused":
            yield StoryEvent(line.node, f"order declined: {line.reason}")
        if line.event == "drain_step" and fields["severity"] in {"WARNING", "ERROR"} and line.reason != "stale":
            yield StoryEvent(line.node, line.message)

    def _eviction(self, line: LogLine) -> Iterator[StoryEvent]:
        pod, answer, budget = line.fields["pod"], line.fields["answer"], line.fields["detail"]
        held = self._held.pop((line.node, pod), None)
        if answer == "budget":
            self._held[line.node, pod] = budget
            self.signs[line.node] = Sign.HELD
            if held is None:
                yield StoryEvent(line.node, f"PDB {budget} holds back {_name(pod)}", Sign.HELD, "held")
        elif answer == "granted":
            if not any(node == line.node for node, _ in self._held):
                self.signs[line.node] = Sign.DRAINING
            if held is not None:
                yield StoryEvent(line.node, f"PDB {held} lets {_name(pod)} go", Sign.DRAINING)

    def _message(self, line: LogLine) -> Iterator[StoryEvent]:
        if line.reason != "continue":
            yield StoryEvent(line.node, line.message)


def _sign(line: LogLine) -> Sign | None:
    """Return the sign that a verdict gives; None where the drain itself knows better."""
    verdict, reason = line.fields["verdict"], line.reason
    if verdict in {"in_flight", "order"}:
        return None
    if verdict == "waiting":
        return Sign.MARKED
    blockers = line.fields["blockers"]
    if reason == "blocked_by_pod" and blockers[0]["detail"] == "pdb_exhausted":  # for a moment only
        return Sign.STAYS if any(blocker["reason"] in _FULL for blocker in blockers) else Sign.MARKED
    return _SIGNS_BY_REASON.get(reason, Sign.STAYS)


_STAGES: Final[Mapping[str, tuple[str, Sign, str]]] = {
    "ordered": ("ordered to be drained: its pods fit on other nodes", Sign.ORDERED, "orders"),
    "cordoned": ("claimed within the budgets, cordoned", Sign.DRAINING, "drains"),
    "drained": ("drained: left to the cluster autoscaler", Sign.EMPTY, ""),
    "given_back": ("returned ({reason}): {detail}", Sign.GIVEN_BACK, "uncordoned"),
    "stale": ("returned untouched: its pods' place was taken meanwhile", Sign.GIVEN_BACK, ""),
}
"""Of a drain's phases and outcomes the text, the node's sign from then on, and the act that the first one opens."""
_WAITS: Final = {Sign.STAYS, Sign.MARKED, Sign.WAVE}
_OURS: Final = {Sign.ORDERED, Sign.DRAINING, Sign.HELD, Sign.EMPTY}
_FULL: Final = {"cpu_above_limit", "memory_above_limit"}
_NARRATED: Final = {Sign.BLOCKED, Sign.PERSON}
_SIGNS_BY_REASON: Final = {
    "blocked_by_pod": Sign.BLOCKED,
    "cordoned_by_other": Sign.PERSON,
    "backing_off": Sign.GIVEN_BACK,
    "budget": Sign.MARKED,
    "cluster_budget": Sign.MARKED,
    "nodes_per_pass": Sign.MARKED,
    "going_away": Sign.EMPTY,
}
_WORDS: Final = {
    "not_safe_to_evict": "its annotation safe-to-evict is false",
    "not_replicated": "no controller would create it again",
    "pdb_exhausted": "its PDB allows no eviction",
}


def _why(first: Mapping[str, Any]) -> str:
    if first["reason"] == "cordoned_by_other":
        return "a person cordoned it (cordoned_by_other)"
    word = str(first["detail"])
    return f"pod {first['object']} may not move: {_WORDS.get(word, word)} ({word})"


def _name(pod: str) -> str:
    """Return a pod's name without its namespace, which its budget's name already shows."""
    return pod.rpartition("/")[2]
