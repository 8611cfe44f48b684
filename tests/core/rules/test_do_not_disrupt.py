from datetime import timedelta
from typing import Any

import pytest

from shared.core.cluster import names
from shared.core.policy import PoolPolicy
from shared.core.records.state import ClusterState
from shared.core.rules.do_not_disrupt import go_duration, opt_out_key
from shared.core.rules.drain_context import DrainContext
from shared.core.rules.nodes import judge_node
from shared.core.rules.pods import judge
from shared.core.rules.situation import Situation
from tests.builders import NOW, cluster, node, pod, policy
from tests.depth import cases

SOON = str(int(NOW.timestamp()) + 60)
PAST = str(int(NOW.timestamp()) - 60)
CAST_AI = "autoscaling.cast.ai/removal-disabled"


@cases(
    "expected, text",
    ("two parts", timedelta(hours=1, minutes=30), "1h30m"),
    ("a fraction", timedelta(minutes=90), "1.5h"),
    ("seconds", timedelta(seconds=90), "90s"),
    ("milliseconds", timedelta(milliseconds=300), "300ms"),
    ("microseconds by either sign", timedelta(microseconds=5), "5µs"),
    ("which are two", timedelta(microseconds=6), "6\u03bcs"),
    ("and without", timedelta(microseconds=7), "7us"),
    ("nanoseconds", timedelta(microseconds=2), "2000ns"),
    ("nothing", None, "0s"),
    ("negative", None, "-1h"),
    ("days are not Go's", None, "30d"),
    ("a word", None, "soon"),
    ("a part only", None, "1h soon"),
    ("empty", None, ""),
)
def test_durations_are_read_as_go_reads_them(expected: timedelta | None, text: str) -> None:
    assert go_duration(text) == expected


@cases(
    "expected, value, minutes",
    ("for good", "key", "true", 600),
    ("the bare key", "key", "", 600),
    ("within the hour", "key", "1h", 59),
    ("the hour is over", None, "1h", 60),
    ("start unknown", "key", "1h", None),
    ("only the exact word", None, "True", 0),
    ("no duration", None, "later", 0),
)
def test_an_opt_out_protects_as_long_as_it_shows(expected: str | None, value: str, minutes: int | None) -> None:
    started = None if minutes is None else NOW - timedelta(minutes=minutes)
    assert opt_out_key({"key": value}, ("other", "key"), started, NOW) == expected


@pytest.mark.acceptance(44)
@cases(
    "expected, where, key, value",
    ("Karpenter", "do_not_disrupt", "annotations", "karpenter.sh/do-not-disrupt", "true"),
    ("Karpenter, for a while", "do_not_disrupt", "annotations", "karpenter.sh/do-not-disrupt", "2h"),
    ("Karpenter, v1alpha5", "do_not_disrupt", "annotations", "karpenter.sh/do-not-evict", "true"),
    ("cluster-autoscaler", "not_safe_to_evict", "annotations", names.SAFE_TO_EVICT, "false"),
    ("the same, waiting", "waits_for_completion", "annotations", names.SAFE_TO_EVICT, "on-completion"),
    ("CAST AI by annotation", "do_not_disrupt", "annotations", CAST_AI, "true"),
    ("CAST AI by label", "do_not_disrupt", "labels", CAST_AI, "true"),
    ("CAST AI, until a time", "do_not_disrupt", "labels", f"{CAST_AI}-until", SOON),
    ("the descheduler", "do_not_disrupt", "annotations", "descheduler.alpha.kubernetes.io/prefer-no-eviction", "true"),
    ("ours", "do_not_disrupt", "annotations", "ebb.internal/do-not-disrupt", "true"),
)
def test_every_ecosystems_opt_out_on_a_pod_is_honoured_and_named(
    expected: str, where: str, key: str, value: str
) -> None:
    wish: dict[str, Any] = {where: {key: value}}
    subject = pod("p", started=NOW - timedelta(hours=1), **wish)

    (blocker,) = judge(subject, DrainContext((), PoolPolicy(), NOW))

    assert (blocker.reason.value, blocker.detail) == (expected, f"{key}={value}")


@pytest.mark.acceptance(44)
@cases(
    "where, key, value",
    ("cluster-autoscaler", "annotations", names.SCALE_DOWN_DISABLED, "true"),
    ("Karpenter", "annotations", "karpenter.sh/do-not-disrupt", "true"),
    ("Karpenter, v1alpha5", "annotations", "karpenter.sh/do-not-consolidate", "true"),
    ("CAST AI by annotation", "annotations", CAST_AI, "true"),
    ("CAST AI by label", "labels", CAST_AI, "true"),
    ("CAST AI, until a time", "labels", f"{CAST_AI}-until", SOON),
    ("ours", "annotations", "ebb.internal/do-not-disrupt", "true"),
)
def test_every_ecosystems_opt_out_on_a_node_is_honoured_and_named(where: str, key: str, value: str) -> None:
    wish: dict[str, Any] = {where: {key: value}}
    subject = node("n1", **wish)

    (blocker,) = judge_node(subject, Situation(cluster([subject]), ClusterState(), policy()))

    assert (blocker.reason.value, blocker.object) == ("scale_down_disabled", f"{key}={value}")


@cases(
    "key, value",
    ("the hour is over", "karpenter.sh/do-not-disrupt", "1h"),
    ("taken back", "karpenter.sh/do-not-disrupt", "false"),
    ("the time has come", f"{CAST_AI}-until", PAST),
    ("no time", f"{CAST_AI}-until", "soon"),
)
def test_an_opt_out_that_has_passed_keeps_nothing(key: str, value: str) -> None:
    subject = pod("p", started=NOW - timedelta(hours=1), annotations={key: value})
    assert judge(subject, DrainContext((), PoolPolicy(), NOW)) == ()
