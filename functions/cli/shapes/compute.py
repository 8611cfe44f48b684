"""`ebb shapes`: gather, compute the advice, print it."""

import re
from fractions import Fraction
from math import isfinite
from typing import Final

from functions.cli.analysis.shapes.advice import advise
from functions.cli.analysis.shapes.machine_types import FAMILIES
from functions.cli.analysis.shapes.study import ShapeRequest
from functions.cli.explain.parts import print_answer
from functions.cli.input.inputs import Inputs, gather, recall_passes
from functions.cli.input.options import AnswerFormat, Sources
from functions.cli.output.format import some
from functions.cli.output.progress import reading_line
from functions.cli.plan.scenarios import DEFAULTS, POLICY
from functions.cli.shapes.view import document, notes_of, parts
from shared.adapters.process import no_search_for_cycles
from shared.core.planning.bill import Bill
from shared.core.rules.situation import Situation
from shared.errors import BadInput

UNPRICED: Final = "shapes: no price is known for these machines; name a table with --prices."
PARTIAL: Final = "shapes: the dump is partial ({why}), so what the pods request is unknown."
_PERCENT: Final = re.compile(r"(?P<number>\d{1,3})%?")
_LEAST_FILL, _MOST_FILL = 10, 100


def read_request(families: str, pod_worth: float, fill: str) -> ShapeRequest:
    named = tuple(filter(None, (family.strip().lower() for family in families.split(","))))
    unknown = sorted(set(named) - set(FAMILIES))
    if unknown:
        raise BadInput(f"--families: {', '.join(unknown)}: the families known are {some(FAMILIES, 20)}.")
    match = _PERCENT.fullmatch(fill.strip())
    if match is None or not _LEAST_FILL <= int(match["number"]) <= _MOST_FILL:
        raise BadInput(f"--fill: {fill!r}: write a whole percentage from {_LEAST_FILL}% to {_MOST_FILL}%.")
    if not isfinite(pod_worth):
        raise BadInput(f"--pod-worth: {pod_worth}: write an amount of dollars.")
    return ShapeRequest(named, Fraction(str(pod_worth)), int(match["number"]))


def show_shapes(sources: Sources, request: ShapeRequest, output: AnswerFormat) -> None:
    """Print the advice: for people with the notes, for tools with these on stderr."""
    inputs = _gather_whole(sources)
    past = recall_passes(inputs, assume_marked=False)
    cluster, whose = inputs.snapshot.cluster, POLICY if inputs.own_policy else DEFAULTS
    with reading_line(cluster, doing="Comparing machine types of") as phase, no_search_for_cycles():
        snapshot, policy = inputs.snapshot, inputs.policy
        bill = Bill.of(inputs.prices, policy.commitments, snapshot.nodes, snapshot.taken_at)
        situation = Situation(snapshot, past.state, policy)
        found = advise(situation, bill, request, past.marks, lambda at, of: phase(f"exchange {at:,} of {of:,}"))
    notes = (*notes_of(found), *past.notes_of(inputs))
    print_answer(
        output,
        lambda _: (parts(found, request, whose),),
        lambda: document(found, request, cluster),
        notes,
        f"Machine types for {cluster or 'the cluster'}",
    )


def _gather_whole(sources: Sources) -> Inputs:
    """Read the cluster. Raises BadInput: the dump is partial, or no machine has a price."""
    found = gather(sources)
    if found.partial:
        raise BadInput(PARTIAL.format(why=found.partial))
    if not found.prices.cost_of(found.snapshot.nodes):
        raise BadInput(UNPRICED)
    return found
