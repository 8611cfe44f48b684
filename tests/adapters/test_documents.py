from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shared.adapters.firestore import cluster_key, escape_id, from_document, path, to_document, unescape_id
from shared.core.policy import PodRules
from shared.core.records.drain_record import DrainRecord, Objection, PodProgress
from shared.core.records.state import ClusterState, Lease, Mark, PoolMarks, Run
from shared.errors import Unreadable
from shared.port_types import CLUSTER_KEY, drain_key, pool_key, run_key
from tests.builders import order

C = "projects/p/locations/l/clusters/c"
WHEN = datetime(2026, 3, 4, 22, 0, 0, 123456, tzinfo=UTC)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.sampled_from(["", ".", "..", "__a__", "%"])


@given(TEXT)
@example("__a b__")
def test_an_id_survives_escaping_and_is_one_firestore_takes(text: str) -> None:
    escaped = escape_id(text)

    assert unescape_id(escaped) == text
    assert escaped not in {"", ".", ".."}
    assert "/" not in escaped
    assert not (escaped.startswith("__") and escaped.endswith("__"))


@given(st.tuples(TEXT, TEXT, TEXT), st.tuples(TEXT, TEXT, TEXT))
def test_no_two_clusters_share_a_key(one: tuple[str, str, str], other: tuple[str, str, str]) -> None:
    keys = {cluster_key(name(*parts)) for parts in (one, other)}

    assert len(keys) == len({name(*one), name(*other)})
    assert not any("/" in key for key in keys)


def name(project: str, location: str, cluster: str) -> str:
    return f"projects/{project}/locations/{location}/clusters/{cluster}"


@pytest.mark.parametrize(
    ("expected", "key"),
    [
        pytest.param("clusters/p_l_c", CLUSTER_KEY, id="the cluster's own"),
        pytest.param("clusters/p_l_c/pools/a-pool", pool_key("a-pool"), id="a pool"),
        pytest.param("clusters/p_l_c/pools/%", pool_key(""), id="the nodes without a pool"),
        pytest.param("clusters/p_l_c/drains/0a1b", drain_key("0a1b"), id="a drain"),
        pytest.param("clusters/p_l_c/runs/2026-03-04T22:00:00Z", run_key("2026-03-04T22:00:00Z"), id="a tick"),
    ],
)
def test_a_document_stands_where_the_design_shows(expected: str, key: object) -> None:
    assert expected == path(C, key)  # type: ignore[arg-type]  # a table of keys of several types


@given(st.dictionaries(TEXT, st.datetimes(timezones=st.just(UTC)), max_size=5))
def test_a_value_survives_the_document(marks: dict[str, datetime]) -> None:
    value = PoolMarks(marks={key: Mark(key, since) for key, since in marks.items()})

    assert from_document(to_document(value, "w"), PoolMarks, "pools/a") == value


def test_a_drain_of_a_version_that_requested_evictions_can_be_read() -> None:
    kept = DrainRecord(
        order=order(),
        rules=PodRules(),
        pods={"default/p": PodProgress(uid="u", answer="granted", at=WHEN)},
        objections=(
            Objection("responders_need_time", "default/p", "example.com/mover: a drain.timeout of at least 20m"),
        ),
    )
    stored = to_document(kept, "w")
    (row,) = stored["value"]["pods"].values()
    row["requested"] = True
    stored["value"]["rules"]["eviction_responders"] = "request"

    assert from_document(stored, DrainRecord, "drains/a") == kept


def test_the_ttl_reads_a_native_time_at_the_top() -> None:
    run = Run(run_id="r", lease=Lease("me", WHEN), expire_at=WHEN)

    assert to_document(run, "w")["expire_at"] == WHEN
    assert to_document(ClusterState(), "w")["expire_at"] is None


def test_times_of_another_zone_are_stored_in_utc() -> None:
    amsterdam = WHEN.astimezone(timezone(timedelta(hours=1)))

    stored = to_document(ClusterState(last_pass=amsterdam), "w")["value"]["last_pass"]

    assert stored == WHEN
    assert stored.tzinfo is UTC


def test_a_document_of_another_shape_is_named_with_its_remedy() -> None:
    with pytest.raises(Unreadable, match=r"clusters/p_l_c.*Expected `bool`.*Delete it"):
        from_document({"value": {"paused": "yes"}}, ClusterState, "clusters/p_l_c")
