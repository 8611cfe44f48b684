"""What the words of the table mean: each reason that occurs once, with its sentence and what it is about.

Pure: a plan in, entries out. Must not repeat a sentence of its own for a reason: `Reason` carries it.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from shared.core.planning.plan import NodeDecision, Plan, Verdict
from shared.core.reasons import DrainReason, Reason, Unremovable

ORDER_SENTENCES: Final[Mapping[str, str]] = {
    DrainReason.EMPTY: "No pod would have to move.",
    DrainReason.UNDERUTILIZED: "Its requests are below the limits, and its pods all have a place elsewhere.",
    DrainReason.EXPIRED: "The node is older than expireAfter, and its pods all have a place elsewhere.",
    DrainReason.MANUAL: "A person asked for it.",
}
IN_FLIGHT: Final = "in flight"
_SENTENCES: Final[Mapping[str, str]] = {
    IN_FLIGHT: "The reason column names the order that drains the node.",
    **ORDER_SENTENCES,
    **{reason.value: reason.sentence for reason in Unremovable},
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One word with its sentence: how many nodes it names, and the objects (pods, PDBs, budgets) it is about."""

    word: str
    sentence: str
    nodes: int
    objects: tuple[str, ...] = ()


def legend(plan: Plan) -> tuple[Entry, ...]:
    """Return first the reasons of the verdicts, the most frequent first, then those that only pods gave."""
    heads = Counter(_head(each) for each in plan.decisions if _head(each))
    objects = _objects(plan)
    reasons = {blocker.reason.value: blocker.reason for each in plan.decisions for blocker in each.blockers}
    first = [
        Entry(word, sentence_of(word, reasons), nodes, objects.get(word, ()))
        for word, nodes in sorted(heads.items(), key=lambda item: (-item[1], item[0]))
    ]
    return (*first, *_others(plan, reasons, objects, frozenset(heads)))


def sentence_of(word: str, reasons: Mapping[str, Reason]) -> str:
    """Return the sentence of a verdict's reason; `reasons` are those that the blockers carry."""
    if word in reasons:
        return reasons[word].sentence
    return _SENTENCES.get(word, "")


def _head(decision: NodeDecision) -> str:
    return IN_FLIGHT if decision.verdict is Verdict.IN_FLIGHT else decision.reason


def _others(
    plan: Plan, reasons: Mapping[str, Reason], objects: Mapping[str, tuple[str, ...]], said: frozenset[str]
) -> tuple[Entry, ...]:
    words = Counter(
        word for each in plan.decisions for word in {blocker.reason.value for blocker in each.blockers} - said
    )
    return tuple(
        Entry(word, reasons[word].sentence, nodes, objects.get(word, ()))
        for word, nodes in sorted(words.items(), key=lambda item: (-item[1], item[0]))
    )


def _objects(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return by reason what its blockers are about, each once; pods stand with their own reasons."""
    rows: dict[str, dict[str, None]] = {}
    for decision in plan.decisions:
        for blocker in decision.blockers:
            if blocker.object and blocker.reason is not Unremovable.BLOCKED_BY_POD:
                about = f"{blocker.object} ({blocker.detail})" if blocker.detail else blocker.object
                rows.setdefault(blocker.reason.value, {})[about] = None
    return {word: tuple(sorted(names)) for word, names in rows.items()}
