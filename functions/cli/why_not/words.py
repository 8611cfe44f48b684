"""The changes in words: what the policy comes to, what each is called and means, and what is not in the table.

Must not rank: the core has. Must not know the terminal.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from functions.cli.analysis.exclusions import Exclusion
from functions.cli.analysis.lifting import Subject
from functions.cli.analysis.what_if import Freed, Held, WhyNot
from functions.cli.format import count, monthly, some, whole_money
from functions.cli.plan.ladder_money import month_beside
from shared.core.planning.plan import NodeDecision
from shared.core.reasons import Reason, Unremovable

_BY_POD: Final = Unremovable.BLOCKED_BY_POD.value
_WORDS: Final[Mapping[Reason, str]] = {Exclusion.ROOM: "headroom"}
_SENTENCES: Final[Mapping[Reason, str]] = {
    Exclusion.ROOM: "The share of each remaining node that the policy keeps free.",
}
"""What a change is called where the reason speaks of a single node."""
AT_LEAST: Final = "What ends in + was followed for a number of rounds only: it frees at least so much."
FREES: Final = "Each of these changes alone, planned anew from there until nothing more goes, frees:"
NOTHING: Final = "No single change that was tried would free more."


def freeing(found: WhyNot) -> list[Freed]:
    """Return the changes that free money, the most first."""
    return [each for each in found.freed if each.saving]


def is_whole(freed: Sequence[Freed]) -> bool:
    """Whether all were followed until nothing more goes."""
    return all(each.is_rest for each in freed)


def base(found: WhyNot, whose: str) -> str:
    """Return what is there now, and what the policy comes to: the rung of the ladder."""
    nodes, left, prices = found.base.situation.snapshot.nodes, found.base.rest.snapshot.nodes, found.base.prices
    now, rest = prices.of_all(nodes), prices.of_all(left)
    month = whole_money(month_beside(now, rest), of=rest)
    return (
        f"{count(len(nodes), 'node')} for {monthly(now)} a month now; {whose} at rest: "
        f"{count(len(left), 'node')} for {month}, as in the ladder of ebb plan."
    )


def others(found: WhyNot) -> Sequence[str]:
    """Return a sentence for each group of changes that are not in the table, with the most that one of them holds."""
    idle = [each.held for each in found.freed if not each.saving]
    rows = (
        (idle, "{changes} tried would free nothing alone: {names}."),
        (found.hopeless, "{changes} cannot free anything, by the bound: {names}."),
        (
            found.passing,
            (
                f"{{changes}} not tried, for none would free a node alone: at rest {_kept_too(found)} these, too "
                "(of {most} a month at most): {names}."
            ),
        ),
        (found.left, "{changes} not tried, each on nodes of {most} a month at most (--top N tries more): {names}."),
    )
    return [_told(text, held) for held, text in rows if held]


def _kept_too(found: WhyNot) -> str:
    """Return what else is by then in the way of the nodes that are not tried, as far as they are still there.

    Not what the change itself would take away, nor that a pod blocks: the pod's own word says that.
    """
    decisions = {each.name: each for each in found.base.decisions}
    words: Counter[str] = Counter()
    for held in found.passing:
        for name in sorted(decisions.keys() & set(held.nodes)):
            words.update(sorted(_reasons(decisions[name]) - {held.subject.reason.value, _BY_POD}))
    named = some([word for word, _ in words.most_common()], 4)
    return f"{named} keep{'s' if len(words) == 1 else ''}" if words else "something else keeps"


def _reasons(decision: NodeDecision) -> set[str]:
    return {decision.reason, *(each.reason.value for each in decision.blockers)}


def _told(text: str, held: Sequence[Held]) -> str:
    most = monthly(max(each.cost for each in held))
    return text.format(changes=count(len(held), "change"), names=_names(held), most=most)


def frees(freed: Freed) -> str:
    """Return the money of a change; a + where it is the least of it."""
    return f"{monthly(freed.saving)}{'' if freed.is_rest else '+'}"


def meaning(subject: Subject) -> str:
    return _SENTENCES.get(subject.reason, subject.reason.sentence)


def named(subject: Subject) -> str:
    word = _WORDS.get(subject.reason, subject.reason.value)
    return " ".join(filter(None, (word, subject.object, subject.detail)))


def _names(held: Sequence[Held]) -> str:
    return some([named(each.subject) for each in held], 4)
