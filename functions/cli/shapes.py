"""`ebb shapes`: which machine types the pools should have: sentences, a row for each pool, and what empties nodes."""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import isfinite
from typing import Any, Final

from functions.cli.analysis.shapes.advice import NIGHT, Advice, PoolAdvice, advise
from functions.cli.analysis.shapes.offers import FAMILIES
from functions.cli.analysis.shapes.study import ShapeRequest
from functions.cli.input.inputs import Inputs, gather, recall_passes
from functions.cli.input.options import AnswerFormat, Sources
from functions.cli.output.answers import PagePart, print_answer
from functions.cli.output.format import WARNING, count, json_dollars, monthly, rounded_percent, some
from functions.cli.output.progress import reading_line
from functions.cli.output.tables import BOLD, Column, Table
from functions.cli.plan.scenarios import DEFAULTS, POLICY
from shared.adapters.process import no_search_for_cycles
from shared.core.planning.bill import Bill
from shared.core.rules.situation import Situation
from shared.errors import BadInput

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
        raise BadInput(f"shapes: the dump is partial ({found.partial}), so what the pods request is unknown.")
    if not found.prices.cost_of(found.snapshot.nodes):
        raise BadInput("shapes: no price is known for these machines; name a table with --prices.")
    return found


SCHEMA: Final = 1
IN_PLACE: Final = (
    "GKE changes no machine type in place: Terraform deletes a pool whose machine_type changes and creates it again. "
    "Copy each pool under another name with the proposed machine type and autoscaling. Then cordon and drain the nodes "
    "that go, and remove the old pools last."
)
NOTHING: Final = (
    "No other machine types would save money at this price of a pod that moves. "
    "ebb plan shows what the removal of nodes saves."
)
NIGHT_ONLY: Final = (
    f"{WARNING}Pods book {{booked}} of the cluster in this snapshot. If it was taken at night, it understates the "
    "day: take the dump by day, or lower --fill."
)
NOT_PACKED: Final = (
    "The scheduler does not place pods as tightly as this advice. Let the new pools autoscale: they add the nodes that "
    "it needs beyond these."
)


def notes_of(found: Advice) -> tuple[str, ...]:
    """Return what the advice rests on, what is not known, and a warning if the snapshot may be one of the night."""
    booked = rounded_percent(Fraction(found.booked).limit_denominator(1000))
    night = (NIGHT_ONLY.format(booked=booked),) if found.booked < NIGHT else ()
    homeless = len(found.proof.homeless)
    fit = "fits" if homeless == 1 else "fit"
    left = (f"{WARNING}{count(homeless, 'pod')} {fit} on no machine type on offer.",) if homeless else ()
    unknown = tuple(f"Pool {pool.pool}: {word}." for pool in found.pools for word in pool.unknown)
    return (*night, *left, *unknown, NOT_PACKED)


def document(found: Advice, request: ShapeRequest, cluster: str) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "cluster": cluster or None,
        "fill": request.fill / 100,
        "pod_worth_per_month": float(request.pod_worth),
        "families": list(request.families),
        "cost_per_hour": json_dollars(found.now),
        "at_rest_per_hour": json_dollars(found.steady),
        "proposed_per_hour": json_dollars(found.proposed),
        "saving_per_hour": json_dollars(found.saving),
        "pods_moved": found.moved,
        "pools": [_pool(pool) for pool in found.pools],
        "commands": list(commands(found)),
    }


def _pool(pool: PoolAdvice) -> dict[str, Any]:
    return {
        "pool": pool.pool,
        "machine_type": pool.machine,
        "proposed": pool.proposed,
        "nodes_before": pool.before,
        "nodes_after": pool.after,
        "saving_per_hour": json_dollars(pool.saving),
        "pods_moved": pool.moved,
        "unknown": list(pool.unknown),
        "nodes_kept": pool.kept,
        "nodes_blocked": pool.blocked,
        "new": [
            {"machine_type": machine, "nodes": nodes, "zones": zones_of(pool, machine)}
            for machine, nodes in pool.types.items()
        ],
    }


def zones_of(pool: PoolAdvice, machine: str) -> dict[str, int]:
    """Return by zone how many new nodes of a machine type the pool gets."""
    return {group.zone: nodes for group, nodes in sorted(pool.new.items(), key=str) if group.machine == machine}


_POOLS: Final = (
    Column("pool", code=True, style=BOLD), Column("now"), Column("nodes", right=True),
    Column("proposed", wraps=True), Column("nodes", right=True), Column("saves/mo", right=True),
    Column("pods move", right=True), Column("blocked nodes", right=True),
)  # fmt: skip


def parts(found: Advice, request: ShapeRequest, whose: str) -> Iterator[PagePart]:
    """Yield the money, a row for each pool, and what empties nodes; `whose` is the policy of the steady state."""
    yield f"{count(found.before, 'node')} for {monthly(found.now)} a month now."
    if found.more <= 0 or not found.has_other_types:
        yield NOTHING
        return
    yield (
        f"Proposed: {count(found.after, 'node')} for {monthly(found.proposed)}, {monthly(found.saving)} a month less. "
        f"{count(found.moved, 'pod')} would move once, each counted as ${float(request.pod_worth):g} a month."
    )
    yield (
        f"With Ebb, {whose}, and the machine types of now: {monthly(found.steady)} in steady state (ebb plan). "
        f"The proposal saves {monthly(found.more)} a month more."
    )
    yield Table.of(_POOLS, map(_row, found.pools))
    yield IN_PLACE
    yield Table.of((Column("once new pools exist", code=True, wraps=True),), ((line,) for line in commands(found)))


def _row(pool: PoolAdvice) -> Sequence[str]:
    new = ", ".join(f"{nodes:,} x {machine}" for machine, nodes in pool.types.items())
    kept = f"{count(pool.kept, 'existing node')} kept" if pool.kept else ""
    saves = monthly(pool.saving) if pool.saving >= 0 else f"-{monthly(-pool.saving)}"
    proposed = " + ".join(filter(None, (new, kept))) or "none"
    blocked = f"{pool.blocked:,}" if pool.blocked else ""
    return pool.pool, pool.machine, f"{pool.before:,}", proposed, f"{pool.after:,}", saves, f"{pool.moved:,}", blocked


def commands(found: Advice) -> Iterator[str]:
    """Yield what empties the nodes that go, once the new pools are there."""
    for pool in found.pools:
        if pool.gone:
            yield f"kubectl cordon {' '.join(pool.gone)}"
            yield f"kubectl drain --ignore-daemonsets {' '.join(pool.gone)}"
