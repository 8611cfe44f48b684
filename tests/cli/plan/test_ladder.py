"""The ladder as people and tools read it."""

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from functions.cli.analysis.forecast.ladder import Ladder
from functions.cli.plan import page
from functions.cli.plan.ladder import UNTRIED, headline, rows, rungs, sentences
from functions.cli.plan.sentences import RESTS_ON, WordKind
from functions.cli.plan.tables import HEADINGS
from functions.cli.plan.view import view_of, with_ladder
from shared.core.reasons import Unremovable
from tests.builders import NOW
from tests.cli.plan.plans import of_every_kind, some_ladder


def printed(ladder: Ladder, width: int = 80, notes: tuple[str, ...] = ()) -> list[str]:
    pages = StringIO()
    console = Console(file=pages, width=width, force_terminal=True, color_system=None)
    page.show(console, with_ladder(view_of(of_every_kind(), notes=notes), ladder, "this policy"))
    return [line.rstrip() for line in pages.getvalue().splitlines()]


@pytest.mark.parametrize("width", [80, 120, 200])
def test_it_is_the_first_thing_and_fits_the_terminal(width: int) -> None:
    lines = printed(some_ladder(), width)

    assert lines[:7] == [
        "                         nodes  a month  a year  saved  evictions a node",
        "now                         10     $730  $8,760      -                 -",
        "the autoscaler alone         8     $584  $7,010    20%               5.0",
        "this policy at rest          7     $511  $6,130    30%               5.0",
        "  + moving running Jobs      6     $438  $5,260    40%               5.0",
        "  + room in shop/db          6     $438  $5,260    40%               5.0",
        "no plan goes below           4     $292  $3,500    60%                 -",
    ]
    assert lines[7].startswith("At rest by 23:31 UTC, in 1h31m; held up longest by time_gap (30m)")
    assert max(map(len, lines)) <= width


def test_a_warning_stands_above_it_and_what_it_rests_on_below_what_keeps_nodes() -> None:
    lines = printed(some_ladder(), notes=("warning: something is odd.", "Without a policy."))

    assert lines[0] == "warning: something is odd."
    below = lines.index(RESTS_ON)
    assert lines.index(HEADINGS[WordKind.POD]) < below
    assert lines[below + 1] == "Without a policy."
    assert "Saved: " in " ".join(lines[lines.index("Without a policy.") :])
    assert "2 nodes could go" in " ".join(lines[: lines.index("Without a policy.")])


def test_what_the_rungs_do_not_say_is_said() -> None:
    assert list(sentences(replace(some_ladder(), untried=True), NOW)) == [
        "At rest by 23:31 UTC, in 1h31m; held up longest by time_gap (30m), nodes_per_pass (15m).",
        "At rest counts what the autoscaler takes by itself meanwhile, too.",
        f"2 nodes could go, and never may: outside_windows. {Unremovable.OUTSIDE_WINDOWS.sentence}",
        UNTRIED,
    ]


@pytest.mark.parametrize(
    ("expected", "alone"),
    [
        pytest.param("$73 more than by the autoscaler alone.", 8, id="Ebb saves more"),
        pytest.param("no more than by the autoscaler alone.", 7, id="Ebb saves the same"),
        pytest.param("$73 less than by the autoscaler alone.", 6, id="Ebb leaves more"),
    ],
)
def test_the_headline_says_what_ebb_adds_to_the_autoscaler(expected: str, alone: int) -> None:
    ladder = some_ladder()
    told = replace(ladder, alone=replace(ladder.alone, nodes=alone, cost=alone * 100_000))

    assert headline(told, "this policy", NOW) == (
        f"10 nodes for $730 a month now; the autoscaler alone comes to {alone} for ${alone * 73}, this policy at rest "
        f"to 7 for $511 by 23:31 UTC. Saved: $219 a month ($2,630 a year), {expected}"
    )


def test_the_last_line_repeats_the_headline() -> None:
    lines = printed(some_ladder(), 400)

    assert lines[-1] == headline(some_ladder(), "this policy", NOW)


def test_json_has_a_value_for_each_rung() -> None:
    found = rungs(some_ladder())

    assert [(each["rung"], each["wish"], each["nodes"]) for each in found] == [
        ("now", None, 10),
        ("autoscaler_alone", None, 8),
        ("policy_at_rest", None, 7),
        ("relaxed", "jobs", 6),
        ("relaxed", "pdb", 6),
        ("bound", None, 4),
    ]
    assert found[2]["by"] == "2026-03-04T23:30:05Z"
    assert found[2]["held_up"][0] == {"reason": "time_gap", "seconds": 1800}


def test_a_rung_that_was_not_followed_to_its_end_is_marked_in_its_row() -> None:
    ladder = some_ladder()
    cut = replace(ladder, relaxed=tuple(replace(each, is_rest=False) for each in ladder.relaxed))
    found = [row for row in rows(cut, "this policy") if row.relaxed]
    assert found
    assert all(cell.startswith("≤") for row in found for cell in (row.nodes, row.month, row.year))
    assert not [cell for row in rows(ladder, "this policy") for cell in (row.nodes, row.month) if "≤" in cell]
    assert any(each.startswith("≤: followed") for each in sentences(cut, NOW))
