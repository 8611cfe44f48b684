from datetime import timedelta

import pytest

from shared.core.cluster.node import NodePool
from shared.core.cluster.snapshot import Snapshot
from shared.core.policy import Policy, PoolPolicy
from shared.core.records.state import Advised, is_advice_due
from shared.core.rules.nodes import has_expired, unknown_pools
from tests.builders import NOW, cluster, node
from tests.depth import cases

DAY = timedelta(days=1)


def named(*pools: str) -> Policy:
    return Policy(pools={pool: PoolPolicy(enabled=True) for pool in pools})


WEB_DB = cluster([], pools={word: NodePool(word) for word in ("web-pool", "db")})
ONLY_NODES = cluster([node("n1", pool="a")], pools={}, pools_known=False)
NO_SUCH, NONE_HERE = "the cluster has no such pool", "no node here belongs to such a pool"


def pooled(*pools: str) -> Snapshot:
    return cluster([], pools={row: NodePool(row) for row in pools})


@cases(
    "expected, snapshot, name, others",
    ("a slip", f"{NO_SUCH}; pools without settings: batch, web.", pooled("web", "batch"), "wbe", ()),
    ("many", f"{NO_SUCH}; pools without settings: a, b, c, d, e and 2 more.", pooled(*"abcdefg"), "x", ()),
    ("all have some", f"{NO_SUCH}; pools without settings: none.", WEB_DB, "batch-pool", ("web-pool", "db")),
    ("of a pool only nodes are known", "", ONLY_NODES, "a", ()),
    ("an empty one is not denied then", f"{NONE_HERE}; pools without settings: a.", ONLY_NODES, "b", ()),
)
def test_a_name_that_no_pool_has_is_shown(
    expected: str, snapshot: Snapshot, name: str, others: tuple[str, ...]
) -> None:
    found = unknown_pools(named(name, *others), snapshot)
    assert found == ({name: f"nodePools.{name}: {expected}"} if expected else {})


def test_policy_advice_stand_in_the_order_of_their_names() -> None:
    assert list(unknown_pools(named("b", "a", "c"), cluster([]))) == ["a", "b", "c"]


@cases(
    "expected, last",
    ("never shown", True, None),
    ("of another policy", True, Advised("older", NOW)),
    ("shown today", False, Advised("now", NOW - DAY + timedelta(seconds=1))),
    ("shown a day ago", True, Advised("now", NOW - DAY)),
)
def test_it_is_shown_once_a_day_and_of_another_policy_at_once(expected: bool, last: Advised | None) -> None:
    assert is_advice_due(last, "now", NOW) is expected


@pytest.mark.acceptance(81)
@cases(
    "expected, age, after",
    ("of that age to the second", True, 30 * DAY, 30 * DAY),
    ("a second younger", False, 30 * DAY - timedelta(seconds=1), 30 * DAY),
    ("Never", False, 400 * DAY, None),
    ("nor where nothing is written", False, 400 * DAY, PoolPolicy().expire_after),
)
def test_a_node_expires_at_the_age_that_the_policy_shows(
    expected: bool, age: timedelta, after: timedelta | None
) -> None:
    assert has_expired(node("n1", created=NOW - age), PoolPolicy(expire_after=after), NOW) is expected
