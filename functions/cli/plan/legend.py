"""What the words of a plan mean: each reason that occurs once, with its sentence and the money that it holds.

Pure: a plan in, entries out. Must not word a reason: `sentences` does.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from functions.cli.plan.sentences import IN_FLIGHT, of_reason
from shared.core.planning.plan import NodeDecision, Plan, Verdict
from shared.core.reasons import Blocker, PodBlock, Unremovable


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
    objects: tuple[str, ...] = ()
    kind: WordKind = WordKind.NODE
    cost: int = 0


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
    return LegendEntry(word, of_reason(word, said), len(own), _objects(word, own), kind, cost)


def _objects(word: str, own: Iterable[NodeDecision]) -> tuple[str, ...]:
    """Return what the word is about, each once; pods stand with their own reasons."""
    if word == Unremovable.BLOCKED_BY_POD.value:
        return ()
    dearest = sorted(own, key=lambda each: (-each.cost, each.name))
    said = (each for decision in dearest for each in decision.blockers if each.reason.value == word and each.object)
    return tuple(dict.fromkeys(map(_about, said)))


def _about(blocker: Blocker) -> str:
    return f"{blocker.object} ({blocker.detail})" if blocker.detail else blocker.object
