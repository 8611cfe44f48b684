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

SOON = str(int(NOW.timestamp()) + 60)
PAST = str(int(NOW.timestamp()) - 60)
CAST_AI = "autoscaling.cast.ai/removal-disabled"


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        pytest.param(timedelta(hours=1, minutes=30), "1h30m", id="two parts"),
        pytest.param(timedelta(minutes=90), "1.5h", id="a fraction"),
        pytest.param(timedelta(seconds=90), "90s", id="seconds"),
        pytest.param(timedelta(milliseconds=300), "300ms", id="milliseconds"),
        pytest.param(timedelta(microseconds=5), "5µs", id="microseconds by either sign"),
        pytest.param(timedelta(microseconds=6), "6\u03bcs", id="which are two"),
        pytest.param(timedelta(microseconds=7), "7us", id="and without"),
        pytest.param(timedelta(microseconds=2), "2000ns", id="nanoseconds"),
        pytest.param(None, "0s", id="nothing"),
        pytest.param(None, "-1h", id="negative"),
        pytest.param(None, "30d", id="days are not Go's"),
        pytest.param(None, "soon", id="a word"),
        pytest.param(None, "1h soon", id="a part only"),
        pytest.param(None, "", id="empty"),
    ],
)
def test_durations_are_read_as_go_reads_them(expected: timedelta | None, text: str) -> None:
    assert go_duration(text) == expected


@pytest.mark.parametrize(
    ("expected", "value", "minutes"),
    [
        pytest.param("key", "true", 600, id="for good"),
        pytest.param("key", "", 600, id="the bare key"),
        pytest.param("key", "1h", 59, id="within the hour"),
        pytest.param(None, "1h", 60, id="the hour is over"),
        pytest.param("key", "1h", None, id="start unknown"),
        pytest.param(None, "True", 0, id="only the exact word"),
        pytest.param(None, "later", 0, id="no duration"),
    ],
)
def test_an_opt_out_protects_as_long_as_it_shows(expected: str | None, value: str, minutes: int | None) -> None:
    started = None if minutes is None else NOW - timedelta(minutes=minutes)
    assert opt_out_key({"key": value}, ("other", "key"), started, NOW) == expected


@pytest.mark.acceptance(44)
@pytest.mark.parametrize(
    ("expected", "where", "key", "value"),
    [
        pytest.param("do_not_disrupt", "annotations", "karpenter.sh/do-not-disrupt", "true", id="Karpenter"),
        pytest.param("do_not_disrupt", "annotations", "karpenter.sh/do-not-disrupt", "2h", id="Karpenter, for a while"),
        pytest.param("do_not_disrupt", "annotations", "karpenter.sh/do-not-evict", "true", id="Karpenter, v1alpha5"),
        pytest.param("not_safe_to_evict", "annotations", names.SAFE_TO_EVICT, "false", id="cluster-autoscaler"),
        pytest.param(
            "waits_for_completion", "annotations", names.SAFE_TO_EVICT, "on-completion", id="the same, waiting"
        ),
        pytest.param("do_not_disrupt", "annotations", CAST_AI, "true", id="CAST AI by annotation"),
        pytest.param("do_not_disrupt", "labels", CAST_AI, "true", id="CAST AI by label"),
        pytest.param("do_not_disrupt", "labels", f"{CAST_AI}-until", SOON, id="CAST AI, until a time"),
        pytest.param(
            "do_not_disrupt",
            "annotations",
            "descheduler.alpha.kubernetes.io/prefer-no-eviction",
            "true",
            id="the descheduler",
        ),
        pytest.param("do_not_disrupt", "annotations", "ebb.internal/do-not-disrupt", "true", id="ours"),
    ],
)
def test_every_ecosystems_opt_out_on_a_pod_is_honoured_and_named(
    expected: str, where: str, key: str, value: str
) -> None:
    wish: dict[str, Any] = {where: {key: value}}
    subject = pod("p", started=NOW - timedelta(hours=1), **wish)

    (blocker,) = judge(subject, DrainContext((), PoolPolicy(), NOW))

    assert (blocker.reason.value, blocker.detail) == (expected, f"{key}={value}")


@pytest.mark.acceptance(44)
@pytest.mark.parametrize(
    ("where", "key", "value"),
    [
        pytest.param("annotations", names.SCALE_DOWN_DISABLED, "true", id="cluster-autoscaler"),
        pytest.param("annotations", "karpenter.sh/do-not-disrupt", "true", id="Karpenter"),
        pytest.param("annotations", "karpenter.sh/do-not-consolidate", "true", id="Karpenter, v1alpha5"),
        pytest.param("annotations", CAST_AI, "true", id="CAST AI by annotation"),
        pytest.param("labels", CAST_AI, "true", id="CAST AI by label"),
        pytest.param("labels", f"{CAST_AI}-until", SOON, id="CAST AI, until a time"),
        pytest.param("annotations", "ebb.internal/do-not-disrupt", "true", id="ours"),
    ],
)
def test_every_ecosystems_opt_out_on_a_node_is_honoured_and_named(where: str, key: str, value: str) -> None:
    wish: dict[str, Any] = {where: {key: value}}
    subject = node("n1", **wish)

    (blocker,) = judge_node(subject, Situation(cluster([subject]), ClusterState(), policy()))

    assert (blocker.reason.value, blocker.object) == ("scale_down_disabled", f"{key}={value}")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        pytest.param("karpenter.sh/do-not-disrupt", "1h", id="the hour is over"),
        pytest.param("karpenter.sh/do-not-disrupt", "false", id="taken back"),
        pytest.param(f"{CAST_AI}-until", PAST, id="the time has come"),
        pytest.param(f"{CAST_AI}-until", "soon", id="no time"),
    ],
)
def test_an_opt_out_that_has_passed_keeps_nothing(key: str, value: str) -> None:
    subject = pod("p", started=NOW - timedelta(hours=1), annotations={key: value})
    assert judge(subject, DrainContext((), PoolPolicy(), NOW)) == ()
