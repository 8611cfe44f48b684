"""`ebb policy diff`: two policies, and if a cluster was named, what each drains and its steady state.

The same snapshot is planned twice.
"""

from dataclasses import replace
from pathlib import Path
from typing import Final

import typer

from functions.cli.analysis.forecast.scenarios import Scenario, Scenarios, scenarios_of
from functions.cli.input.files import read_policy
from functions.cli.input.inputs import MARKED, NO_MARKS, Inputs, all_marked, as_warnings, gather, odd_policy
from functions.cli.input.options import AnswerFormat, Sources
from functions.cli.output.documents import print_document
from functions.cli.output.progress import reading_line
from functions.cli.output.terminal import printing
from functions.cli.policy import diff_view
from functions.cli.policy.diff import UNKNOWN, Impact, PolicyDiff, document, settings
from functions.cli.policy.real_drains import DrainsCompared, real_drains
from shared.adapters.process import no_search_for_cycles
from shared.core.planning.bill import Bill
from shared.core.planning.make_plan import make_plan
from shared.core.planning.prices import Prices
from shared.core.policy import Policy
from shared.core.policy.values import Commitments
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from shared.errors import BadInput

UNMARKED: Final = (
    "No marks are known here, so nodes wait that the planner may have marked long ago; see --assume-marked."
)
NO_CLUSTER: Final = "Name a cluster to see how many nodes, and from when."


def print_diff(
    old: Path, new: Path, sources: Sources, *, assume_marked: bool, output: AnswerFormat = AnswerFormat.TABLE
) -> None:
    """Print what a change of policy would change: settings always, verdicts where a cluster or a dump was named.

    Raises:
        BadInput: a file cannot be read, both a dump and a kubeconfig were named, or an option needs one of them.
        BadPolicy: with every fault of the first policy that has some.
        Retryable, Terminal: the cluster cannot be read.
    """
    asked = {"--assume-marked": assume_marked, "--at": sources.at, "--commitments": sources.commitments}
    needing = [option for option, value in asked.items() if value]
    if needing and not sources.has_cluster:
        raise BadInput(f"{needing[0]}: it needs a cluster; add --dump FILE.")
    first, other = (read_policy(path) for path in (old, new))
    inputs = gather(sources, first) if sources.has_cluster else None
    impact = impact_of(inputs, other, assume_marked=assume_marked) if inputs else None
    found = PolicyDiff(settings(first, other), drains_of(inputs, first, other), impact)
    if output is AnswerFormat.MARKDOWN:
        typer.echo(diff_view.page(found))
    elif output is not AnswerFormat.TABLE:
        print_document(document(found), output, found.notes)
    else:
        with printing() as console:
            diff_view.show(console, found)


def drains_of(inputs: Inputs | None, first: Policy, other: Policy) -> DrainsCompared:
    """Return the real drains of both policies; if the cluster is not known as a whole, only whether there are any."""
    known = inputs if inputs and is_whole(inputs) else None
    with reading_line("the drains of both policies", doing="Planning"), no_search_for_cycles():
        before, after = (real_drains(known, policy) for policy in (first, other))
    unknown = "" if known else UNKNOWN if inputs else NO_CLUSTER
    return DrainsCompared(before, after, known.snapshot.taken_at if known else None, unknown)


def is_whole(inputs: Inputs) -> bool:
    """Whether a forecast can be made: all pods are known, and there are nodes."""
    return not inputs.partial and bool(inputs.snapshot.nodes)


def impact_of(inputs: Inputs, other: Policy, *, assume_marked: bool) -> Impact:
    """Return the steady state of a cluster under the policy that the inputs have, and under another."""
    snapshot, prices, whole = inputs.snapshot, inputs.prices, is_whole(inputs)
    marks = all_marked(snapshot) if assume_marked else None
    state = ClusterState(last_pass=snapshot.taken_at) if assume_marked else ClusterState()
    policies = inputs.policy, inputs.committed_under(other)
    given = [Situation(snapshot, state, policy) for policy in policies]
    with reading_line("both policies", doing="Planning"), no_search_for_cycles():
        before, after = (make_plan(situation, marks, prices) for situation in given)
        runs = [scenarios_of(asked, marks or {}, prices, assume_marked=assume_marked) for asked in given if whole]
    scenarios = paid_alike(tuple(runs), policies[1].commitments, prices)
    return Impact(before, after, scenarios, tuple(_notes(inputs, other, assume_marked=assume_marked)))


def paid_alike(scenarios: tuple[Scenarios, ...], commitments: Commitments, prices: Prices) -> tuple[Scenarios, ...]:
    """Return what is there now, the steady states and the bound with the bill by these commitments.

    Otherwise a policy that names other commitments than before would seem to change what is paid for equal nodes.
    """
    return tuple(_paid_by(run, commitments, prices, scenarios[-1].bound) for run in scenarios)


def _paid_by(scenarios: Scenarios, commitments: Commitments, prices: Prices, bound: Scenario) -> Scenarios:
    if scenarios.begun is None or scenarios.left is None:
        return scenarios
    begun, left = scenarios.begun, scenarios.left
    bill = Bill.of(prices, commitments, begun.nodes, begun.taken_at)
    now, rest = (None if bill.is_list else bill.cost_of(moment.nodes) for moment in (begun, left))
    return replace(
        scenarios,
        now=replace(scenarios.now, bill=now),
        at_rest=replace(scenarios.at_rest, bill=rest),
        bound=bound,
    )


def _notes(inputs: Inputs, other: Policy, *, assume_marked: bool) -> list[str]:
    marks = MARKED if assume_marked else UNMARKED
    own = [marks if note == NO_MARKS else note for note in inputs.notes]
    return [*own, *(note for note in as_warnings(odd_policy(other, inputs.snapshot, inputs.prices)) if note not in own)]
