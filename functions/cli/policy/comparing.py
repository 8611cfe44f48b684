"""`ebb policy diff`: two policies, and where a cluster was named, the steady state of each.

The same snapshot is planned twice.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import typer

from functions.cli.analysis.forecast.scenarios import Scenario, Scenarios, scenarios_of
from functions.cli.input.files import read_policy
from functions.cli.input.inputs import MARKED, NO_MARKS, Inputs, all_marked, gather, warnings_of
from functions.cli.input.options import DiffFormat, Sources
from functions.cli.output.progress import reading_line
from functions.cli.output.terminal import printing
from functions.cli.plan.sentences import show_notes
from functions.cli.policy import diff, diff_markdown
from functions.cli.policy.diff import Impact
from shared.collector import no_search_for_cycles
from shared.core.planning.bill import Bill
from shared.core.planning.make_plan import make_plan
from shared.core.planning.prices import Prices
from shared.core.policy import Policy
from shared.core.policy.values import Commitments
from shared.core.records.state import ClusterState, PoolMarks
from shared.core.rules.situation import Situation
from shared.errors import BadInput

UNMARKED: Final = (
    "No marks are known here, so nodes wait that the planner may have marked long ago; see --assume-marked."
)
SETTINGS_ONLY: Final = (
    "No cluster was named, so only settings are compared; --dump, --kubeconfig or --context compares verdicts too."
)


def print_diff(
    old: Path, new: Path, sources: Sources, *, assume_marked: bool, output: DiffFormat = DiffFormat.TABLE
) -> None:
    """Print what a change of policy would change: settings always, verdicts where a cluster or a dump was named.

    Raises:
        BadInput: a file cannot be read, both a dump and a kubeconfig were named, or an option needs one of them.
        BadPolicy: with every fault of the first policy that has some.
        Retryable, Terminal: the cluster cannot be read.
    """
    asked = {"--assume-marked": assume_marked, "--at": sources.at, "--commitments": sources.commitments}
    needing = [option for option, value in asked.items() if value]
    if needing and not sources.named:
        raise BadInput(f"{needing[0]}: it needs a cluster; add --dump FILE.")
    first, other = (read_policy(each) for each in (old, new))
    inputs = gather(sources, first) if sources.named else None
    changed = diff.settings(first, other)
    if output is DiffFormat.MARKDOWN:
        found = None if inputs is None else impact_of(inputs, other, assume_marked=assume_marked)
        typer.echo(diff_markdown.page(changed, found, () if inputs else (SETTINGS_ONLY,)))
    elif inputs is None:
        with printing() as console:
            show_notes(console, [SETTINGS_ONLY])
            diff.show(console, changed, (), None)
    else:
        _show(impact_of(inputs, other, assume_marked=assume_marked), changed)


def _show(impact: Impact, changed: Sequence[diff.PolicyChange]) -> None:
    before, moved = impact.before, diff.verdicts(impact.before, impact.after)
    with printing() as console:
        show_notes(console, impact.notes)
        diff.show(console, changed, moved, len(before.decisions))
        if changed or moved:
            diff.show_scenarios(console, impact.scenarios, before.taken_at)


def impact_of(inputs: Inputs, other: Policy, *, assume_marked: bool) -> Impact:
    """Return the steady state of a cluster under the policy that the inputs have, and under another."""
    policies = inputs.policy, inputs.committed_under(other)
    given = [_given(inputs, policy, assume_marked=assume_marked) for policy in policies]
    is_whole = not inputs.partial and inputs.snapshot.nodes
    with reading_line("both policies", doing="Planning"), no_search_for_cycles():
        before, after = (make_plan(*each, inputs.prices) for each in given)
        scenarios = tuple(
            scenarios_of(asked, marks or {}, inputs.prices, assume_marked=assume_marked)
            for asked, marks in given
            if is_whole
        )
    scenarios = paid_alike(scenarios, policies[1].commitments, inputs.prices)
    return Impact(before, after, scenarios, tuple(_notes(inputs, other, assume_marked=assume_marked)))


def paid_alike(scenarios: tuple[Scenarios, ...], commitments: Commitments, prices: Prices) -> tuple[Scenarios, ...]:
    """Return what is there now, the steady states and the bound with the bill by these commitments.

    Otherwise a policy that names other commitments than before would seem to change what is paid for equal nodes.
    """
    return tuple(_paid_by(each, commitments, prices, scenarios[-1].bound) for each in scenarios)


def _paid_by(scenarios: Scenarios, commitments: Commitments, prices: Prices, bound: Scenario) -> Scenarios:
    if scenarios.begun is None or scenarios.left is None:
        return scenarios
    begun, left = scenarios.begun, scenarios.left
    bill = Bill.of(prices, commitments, begun.nodes, begun.taken_at)
    now, rest = (None if bill.is_list else bill.of_all(each.nodes) for each in (begun, left))
    return replace(
        scenarios,
        now=replace(scenarios.now, bill=now),
        at_rest=replace(scenarios.at_rest, bill=rest),
        bound=bound,
    )


def _given(inputs: Inputs, policy: Policy, *, assume_marked: bool) -> tuple[Situation, dict[str, PoolMarks] | None]:
    snapshot = inputs.snapshot
    state = ClusterState(last_pass=snapshot.taken_at) if assume_marked else ClusterState()
    return Situation(snapshot, state, policy), all_marked(snapshot) if assume_marked else None


def _notes(inputs: Inputs, other: Policy, *, assume_marked: bool) -> list[str]:
    marks = MARKED if assume_marked else UNMARKED
    own = [marks if note == NO_MARKS else note for note in inputs.notes]
    return [*own, *(note for note in warnings_of(other, inputs.snapshot, inputs.prices) if note not in own)]
