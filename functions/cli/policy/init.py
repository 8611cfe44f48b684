"""`ebb policy init`: a first policy for the pools of a cluster or a dump, on stdout. Must not decide what it holds."""

import typer

from functions.cli.analysis.forecast.at_rest import reached
from functions.cli.analysis.forecast.ladder import policy_at_rest
from functions.cli.analysis.potential import potential
from functions.cli.inputs import EVERY_POOL, NO_MARKS, NO_POLICY, Sources, gather
from functions.cli.policy.starter import starter
from functions.cli.visible import visible
from shared.core.planning.make_plan import make_plan
from shared.core.planning.plan import Potential
from shared.core.planning.prices import Prices
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from shared.errors import BadInput


def print_starter(sources: Sources) -> None:
    """Print the policy; what the reading does not know goes to stderr.

    Raises:
        BadInput: as `gather`, or no node belongs to a pool.
        Retryable, Terminal: the cluster cannot be read.
    """
    inputs = gather(sources, EVERY_POOL)
    if not any(node.pool for node in inputs.snapshot.nodes):
        raise BadInput(f"{inputs.snapshot.cluster}: no node belongs to a pool of GKE, and a policy names pools.")
    situation = Situation(inputs.snapshot, ClusterState(), inputs.policy)
    most = None if inputs.partial else _most(situation, inputs.prices)
    for note in inputs.notes:
        if note not in {NO_POLICY, NO_MARKS}:
            typer.echo(visible(note), err=True)
    typer.echo(starter(inputs.snapshot, make_plan(situation, {}, inputs.prices), most, inputs.partial), nl=False)


def _most(situation: Situation, prices: Prices) -> Potential:
    """Return the potential that `ebb plan` tells of the same cluster: it is no less than the policy's rest."""
    found = policy_at_rest(situation, {}, prices)
    return potential(found.situation, prices, reached(found.rest.order, found.rest.snapshot))
