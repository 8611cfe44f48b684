"""An expired node goes because the policy says so; `ebb policy check` says how many nodes that means."""

from datetime import timedelta

import pytest

from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.policy_advice import expiring
from shared.core.policy import Policy, PoolPolicy
from shared.core.rules.nodes import has_expired
from tests.builders import NOW, cluster, node, policy

DAY = timedelta(days=1)
THREE = cluster(
    [node("n1", created=NOW - 40 * DAY), node("n2", created=NOW - 30 * DAY), node("n3", created=NOW - 29 * DAY)]
)


@pytest.mark.acceptance(81)
@pytest.mark.parametrize(
    ("expected", "age", "after"),
    [
        pytest.param(True, 30 * DAY, 30 * DAY, id="of that age to the second"),
        pytest.param(False, 30 * DAY - timedelta(seconds=1), 30 * DAY, id="a second younger"),
        pytest.param(False, 400 * DAY, None, id="Never"),
        pytest.param(False, 400 * DAY, PoolPolicy().expire_after, id="nor where nothing is written"),
    ],
)
def test_a_node_expires_at_the_age_that_the_policy_shows(
    expected: bool, age: timedelta, after: timedelta | None
) -> None:
    assert has_expired(node("n1", created=NOW - age), PoolPolicy(expire_after=after), NOW) is expected


@pytest.mark.parametrize(
    ("expected", "rules", "snapshot"),
    [
        pytest.param([], policy(), THREE, id="nothing expires"),
        pytest.param([], policy(expire_after=DAY, enabled=False), THREE, id="a disabled pool"),
        pytest.param(["2 of 3 nodes are of that age"], policy(expire_after=30 * DAY), THREE, id="two are old enough"),
        pytest.param(["0 of 3 nodes are of that age"], policy(expire_after=90 * DAY), THREE, id="none is"),
        pytest.param(["0 of 0 nodes are of that age"], policy("b", expire_after=DAY), THREE, id="a pool without nodes"),
        pytest.param(["a cluster or a dump shows (--dump FILE)"], policy(expire_after=DAY), None, id="no cluster"),
    ],
)
def test_what_expiry_amounts_to_is_shown_for_each_pool(
    expected: list[str], rules: Policy, snapshot: Snapshot | None
) -> None:
    said = expiring(rules, snapshot)

    assert [text in sentence for text, sentence in zip(expected, said, strict=True)] == [True] * len(expected)
    assert all(sentence.startswith("nodePools.") for sentence in said)
