"""What the words of a plan mean: each reason that occurs once, with its sentence and the money that it holds.

Pure: a plan in, entries out. Must not word a reason: `sentences` does.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from functions.cli.format import some
from functions.cli.plan.sentences import IN_FLIGHT, of_reason
from shared.core.planning.plan import NodeDecision, Plan, Verdict
from shared.core.reasons import PodBlock, Unremovable


class WordKind(StrEnum):
    """What a word is said of."""

    GOES = "goes"
    """Why a node goes."""
    NODE = "node"
    """What names the verdict of a node that stays."""
    POD = "pod"
    """What a pod on such a node says; a node may have several."""
    ALSO = "also"
    """What else stands in a node's way, and names no verdict."""


HOLDING: Final = (WordKind.NODE, WordKind.POD)
"""What holds money: the others go, or are held by another word already."""


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """One word with its sentence: how many nodes it names, what they cost, and what (pods, PDBs, budgets) it is about.

    `cost` is in micro-dollars per hour; objects of the dearest nodes come first.
    """

    word: str
    sentence: str
    nodes: int
    about: tuple[tuple[str, str], ...] = ()
    """Each object with its detail, which may be empty."""
    kind: WordKind = WordKind.NODE
    cost: int = 0

    @property
    def objects(self) -> tuple[str, ...]:
        return tuple(_with_detail(*each) for each in self.about)

    def named_objects(self, most: int) -> str:
        """Return the first objects and how many more there are, without details."""
        return some([name for name, _ in self.about], most)

    def some_objects(self, most: int) -> str:
        """Return the first objects and how many more there are; a detail that all of them share is said once."""
        details = {detail for _, detail in self.about}
        if len(details) > 1 or len(self.about) == 1:
            return some(self.objects, most)
        return _with_detail(self.named_objects(most), *details)


def legend(plan: Plan) -> tuple[LegendEntry, ...]:
    """Return the entries by kind, those that hold most money first."""
    rows: dict[tuple[WordKind, str], list[NodeDecision]] = {}
    for each in plan.decisions:
        for key in _keys(each):
            rows.setdefault(key, []).append(each)
    named = {word for kind, word in rows if kind in {WordKind.NODE, WordKind.GOES}}
    entries = (_entry(*key, own) for key, own in rows.items() if key[0] is not WordKind.ALSO or key[1] not in named)
    order = list(WordKind)
    return tuple(sorted(entries, key=lambda each: (order.index(each.kind), -each.cost, -each.nodes, each.word)))


def _keys(decision: NodeDecision) -> Iterator[tuple[WordKind, str]]:
    """Yield each word of a node once."""
    if decision.verdict is Verdict.IN_FLIGHT:
        yield WordKind.GOES, IN_FLIGHT
    elif decision.reason:
        yield (WordKind.NODE if decision.blockers else WordKind.GOES), decision.reason
    for reason in dict.fromkeys(each.reason for each in decision.blockers):
        if isinstance(reason, PodBlock):
            yield WordKind.POD, reason.value
        elif reason.value != decision.reason:
            yield WordKind.ALSO, reason.value


def _entry(kind: WordKind, word: str, own: list[NodeDecision]) -> LegendEntry:
    said = [each for decision in own for each in decision.blockers if each.reason.value == word]
    cost = sum(each.cost for each in own)
    return LegendEntry(word, of_reason(word, said), len(own), _about(word, own), kind, cost)


def _about(word: str, own: Iterable[NodeDecision]) -> tuple[tuple[str, str], ...]:
    """Return what the word is about, each once; pods stand with their own reasons."""
    if word == Unremovable.BLOCKED_BY_POD.value:
        return ()
    dearest = sorted(own, key=lambda each: (-each.cost, each.name))
    said = (each for decision in dearest for each in decision.blockers if each.reason.value == word and each.object)
    return tuple(dict.fromkeys((each.object, each.detail) for each in said))


def _with_detail(name: str, detail: str = "") -> str:
    return f"{name} ({detail})" if detail else name
