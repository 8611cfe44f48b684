"""What it is worth to choose by the bill: a cluster of two families, of which one is or both are committed."""

from dataclasses import replace

import pytest

from functions.cli.analysis.potential import potential
from shared.adapters.prices import load
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.bill import Savings
from shared.core.planning.plan import Potential
from shared.core.policy import Policy
from shared.core.policy.values import NO_COMMITMENTS, Commitments
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.bench.clusters.committed import at_night, committed_shares
from tests.builders import NOW

PRICES, SEEDS = load(), (1, 2, 3)


def found_in(snapshot: Snapshot, commitments: Commitments) -> Potential:
    return potential(Situation(snapshot, ClusterState(), replace(Policy(), commitments=commitments)), PRICES)


def falls_by(snapshot: Snapshot, commitments: Commitments, found: Potential) -> int:
    savings = Savings.among(snapshot.nodes, (), PRICES, commitments, NOW)
    return savings.saving_of(snapshot.node_by_name[name] for name in found.nodes)


@pytest.mark.parametrize("seed", SEEDS)
def test_with_one_family_committed_the_bill_falls_by_two_and_a_half_times_as_much(seed: int) -> None:
    snapshot, commitments = at_night(seed), committed_shares(n2=1)
    blind, by_bill = (found_in(snapshot, each) for each in (NO_COMMITMENTS, commitments))
    assert by_bill.saving == falls_by(snapshot, commitments, by_bill)
    assert by_bill.saving >= 2.5 * falls_by(snapshot, commitments, blind)


@pytest.mark.parametrize("seed", SEEDS)
def test_with_most_of_both_committed_as_much_is_saved_by_moving_far_fewer_pods(seed: int) -> None:
    snapshot, commitments = at_night(seed), committed_shares(n2=0.85, e2=0.85)
    blind, by_bill = (found_in(snapshot, each) for each in (NO_COMMITMENTS, commitments))
    assert by_bill.saving >= falls_by(snapshot, commitments, blind)
    assert len(by_bill.moves) <= 0.6 * len(blind.moves)
