"""What the words of a plan mean: each reason that occurs once, with its sentence and what it is about.

Pure: a plan in, entries out. Must not word a reason: `sentences` does.
"""

from collections import Counter
from dataclasses import dataclass

from functions.cli.plan.sentences import IN_FLIGHT, of_reason
from shared.core.planning.plan import NodeDecision, Plan, Verdict
from shared.core.reasons import Blocker, Unremovable


@dataclass(frozen=True, slots=True)
class LegendEntry:
    """One word with its sentence: how many nodes it names, and the objects (pods, PDBs, budgets) it is about."""

    word: str
    sentence: str
    nodes: int
    objects: tuple[str, ...] = ()


def legend(plan: Plan) -> tuple[LegendEntry, ...]:
    """Return first the reasons of the verdicts, the most frequent first, then those that only pods gave."""
    heads = Counter(_head(each) for each in plan.decisions if _head(each))
    others = Counter(word for each in plan.decisions for word in _words(each) - heads.keys())
    objects, blockers = _objects(plan), [blocker for each in plan.decisions for blocker in each.blockers]
    by_word = {each.reason.value: each for each in blockers}
    return tuple(
        LegendEntry(word, _sentence(word, by_word), nodes, objects.get(word, ()))
        for counted in (heads, others)
        for word, nodes in sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    )


def _sentence(word: str, blockers: dict[str, Blocker]) -> str:
    return of_reason(word, [blockers[word]] if word in blockers else ())


def _head(decision: NodeDecision) -> str:
    return IN_FLIGHT if decision.verdict is Verdict.IN_FLIGHT else decision.reason


def _words(decision: NodeDecision) -> set[str]:
    return {blocker.reason.value for blocker in decision.blockers}


def _objects(plan: Plan) -> dict[str, tuple[str, ...]]:
    """Return by reason what its blockers are about, each once; pods stand with their own reasons."""
    rows: dict[str, dict[str, None]] = {}
    for decision in plan.decisions:
        for blocker in decision.blockers:
            if blocker.object and blocker.reason is not Unremovable.BLOCKED_BY_POD:
                about = f"{blocker.object} ({blocker.detail})" if blocker.detail else blocker.object
                rows.setdefault(blocker.reason.value, {})[about] = None
    return {word: tuple(sorted(names)) for word, names in rows.items()}
