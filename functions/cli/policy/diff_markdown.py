"""A change of policy as GitHub-flavoured markdown: for the summary of a job and for a comment on a pull request.

What it means comes first, what it rests on is folded away. A comment has room for 65,536 letters, so a page stops
before that, with a note. Names and values are data, never markup.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from functions.cli.output.documents import code, details, table, text
from functions.cli.output.format import count, moment, monthly, some
from functions.cli.plan.sentences import VERDICTS, LegendEntry, WordKind
from functions.cli.policy.diff import (
    HEADS,
    Impact,
    PolicyChange,
    PolicyDiff,
    ReasonChange,
    counted,
    headline,
    rows,
)
from functions.cli.policy.diff import UNCHANGED_CELL as UNCHANGED
from functions.cli.policy.words import meaning_of
from shared.core.planning.plan import Plan, Verdict

MOST: Final = 60_000
"""Letters of a page: fewer than a comment may have."""
MORE: Final = "*There is more than a comment holds: `ebb policy diff` prints everything.*"
TITLE: Final = "### What this policy would change"
_LONGEST: Final = 300
"""Letters of one value; a list of budgets or freezes may be any length."""
_NODES: Final = 20
_SETTINGS: Final = 40
_OF: Final = {WordKind.NODE: "node", WordKind.POD: "pod"}
_FIGURES: Final = ("before", "after", "difference", "nodes before", "nodes after", "holds/mo", "nodes")


def page(found: PolicyDiff) -> str:
    """Return the page: first what becomes of real drains."""
    if found.same:
        return f"{TITLE}\n\n{found.same}"
    impact, settings = found.impact, _settings(found.settings)
    parts = [TITLE, f"**{text(found.drains.sentence)}**"]
    if impact:
        parts += [f"**{headline(impact.scenarios)}**", *settings, _figures(impact), *_reasons(impact.reasons())]
        parts += _moved(found.verdicts, len(impact.before.decisions))
    else:
        parts += settings
    notes_below = "\n".join(f"- {text(note)}" for note in found.notes)
    return _within(parts, details("What this rests on", notes_below) if found.notes else "")


def _within(parts: Sequence[str], last: str) -> str:
    """Return the parts that a comment has room for, and a note if it has no room for all."""
    kept: list[str] = []
    room = MOST - len(MORE)
    for part in (*parts, last):
        room -= len(part) + 2
        if room < 0:
            return "\n\n".join((*kept, MORE))
        kept.append(part)
    return "\n\n".join(filter(None, kept))


def _settings(changed: Sequence[PolicyChange]) -> Iterator[str]:
    if not changed:
        yield "No setting changes."
        return
    yield "#### Settings"
    rows = (
        (code(_short(each.place)), code(each.name), code(_short(each.old)), code(_short(each.new)),
         text(meaning_of(each.place, each.name)))
        for each in changed[:_SETTINGS]
    )  # fmt: skip
    yield table(("where", "setting", "before", "after", "what it is"), rows)
    if len(changed) > _SETTINGS:
        yield f"… and {count(len(changed) - _SETTINGS, 'setting')} more."


def _short(value: str) -> str:
    return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…"


def _figures(impact: Impact) -> str:
    """Return scenarios and verdicts before and after."""
    now = impact.before.taken_at
    shown = [*rows(impact.scenarios, now), *_verdicts(impact.before, impact.after)]
    where = f"{code(impact.before.cluster)}, {moment(now)}: {count(len(impact.before.decisions), 'node')}"
    return f"#### What it means\n\n{where}\n\n{table(HEADS, shown, _FIGURES)}"


def _verdicts(before: Plan, after: Plan) -> Iterator[tuple[str, ...]]:
    old, new = before.counts(), after.counts()
    for verdict in Verdict:
        pair = old.get(verdict.value, 0), new.get(verdict.value, 0)
        if any(pair):
            yield counted(f"nodes now: {VERDICTS[verdict]}", *pair)


def _held(change: ReasonChange) -> str:
    old, new = (each.cost if each else 0 for each in (change.old, change.new))
    return f"{'+' if new > old else '-'}{monthly(abs(new - old))}" if old != new else UNCHANGED


def _reasons(changes: Sequence[ReasonChange]) -> Iterator[str]:
    if not changes:
        return
    rows = (
        (code(each.entry.word), _OF[each.entry.kind], _nodes(each.old), _nodes(each.new),
         _held(each), text(each.entry.sentence))
        for each in changes
    )  # fmt: skip
    new = sum(each.old is None for each in changes)
    shown = f"{count(new, 'reason')} that kept no node before" if new else "no new one"
    heads = ("reason", "of", "nodes before", "nodes after", "holds/mo", "meaning")
    yield f"#### Why nodes stay: {shown}\n\n{table(heads, rows, _FIGURES)}"


def _nodes(entry: LegendEntry | None) -> str:
    return f"{entry.nodes:,}" if entry else "**0**"


def _moved(moved: Sequence[PolicyChange], nodes: int) -> Iterator[str]:
    if not moved:
        yield f"No verdict changes: all {count(nodes, 'node')} keep theirs at this moment."
        return
    rows = []
    for (old, new), own in groupby(moved, key=lambda each: (each.old, each.new)):
        names = [each.name for each in own]
        rows.append((code(old), code(new), f"{len(names):,}", code(some(names, _NODES))))
    body = table(("before", "after", "nodes", "which"), rows, ("nodes",))
    yield details(f"{len(moved):,} of {count(nodes, 'verdict')} would change at this moment", body)
