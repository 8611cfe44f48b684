"""What ComputeClasses say of scale-down: read from the API, from a dump, and where it is not of the API's shape."""

import json
from collections.abc import Iterator
from datetime import timedelta
from fractions import Fraction
from typing import Any

import msgspec
import pytest

from functions.cli.dumps.anonymize.objects import KINDS
from functions.cli.dumps.anonymize.rules import Namer
from functions.cli.dumps.contents import DumpContents
from shared.adapters.kubernetes import buffer_objects
from shared.adapters.kubernetes.buffer_objects import autoscaling_policy
from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.core.cluster.autoscaling import NO_CLASSES, AutoscalingPolicy, ComputeClasses
from tests.adapters.access import access_to, no_wait
from tests.adapters.scripted import NO_GROUP, Say, Script, scripted, status
from tests.adapters.test_kubernetes_buffers import listed, served, versions
from tests.builders import NOW

REAPER = {"consolidationDelayMinutes": 1, "consolidationThreshold": 0}
REAPS = AutoscalingPolicy(threshold=Fraction(0), delay=timedelta(minutes=1))
HOLDS = "the profile's value holds."


def of_class(name: str, said: Any) -> dict[str, Any]:
    spec = {"priorities": [{"machineFamily": "n2"}], "autoscalingPolicy": said}
    return {"kind": "ComputeClass", "metadata": {"name": name}, "spec": spec}


def read(said: Any) -> AutoscalingPolicy:
    text = json.dumps(of_class("web", said)).encode()
    return autoscaling_policy(msgspec.json.decode(text, type=buffer_objects.ComputeClass))


@pytest.mark.parametrize(
    ("expected", "said"),
    [
        pytest.param(AutoscalingPolicy(), None, id="nothing: the profile's"),
        pytest.param(AutoscalingPolicy(), {}, id="an empty block"),
        pytest.param(REAPS, REAPER, id="a reaper"),
        pytest.param(AutoscalingPolicy(threshold=Fraction(7, 20), gpu_threshold=Fraction(1)),
                     {"consolidationThreshold": 35, "gpuConsolidationThreshold": 100}, id="percents"),
        pytest.param(AutoscalingPolicy(delay=timedelta(days=1)), {"consolidationDelayMinutes": 1440}, id="a day"),
    ],
)  # fmt: skip
def test_percents_become_shares_and_minutes_times(expected: AutoscalingPolicy, said: Any) -> None:
    assert read(said) == expected


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        pytest.param(f"consolidationThreshold is '50%': it takes percent from 0 to 100; {HOLDS}",
                     {"consolidationThreshold": "50%"}, id="a unit"),
        pytest.param(f"consolidationThreshold is 101: it takes percent from 0 to 100; {HOLDS}",
                     {"consolidationThreshold": 101}, id="too much"),
        pytest.param(f"gpuConsolidationThreshold is -1: it takes percent from 0 to 100; {HOLDS}",
                     {"gpuConsolidationThreshold": -1}, id="too little"),
        pytest.param(f"consolidationThreshold is True: it takes percent from 0 to 100; {HOLDS}",
                     {"consolidationThreshold": True}, id="true is no number"),
        pytest.param(f"consolidationDelayMinutes is 0: it takes minutes from 1 to 1440; {HOLDS}",
                     {"consolidationDelayMinutes": 0}, id="no time at all"),
        pytest.param(f"consolidationDelayMinutes is 1.5: it takes minutes from 1 to 1440; {HOLDS}",
                     {"consolidationDelayMinutes": 1.5}, id="a part of a minute"),
        pytest.param("autoscalingPolicy is 'fast', not an object; the profile's values hold.", "fast", id="no object"),
    ],
)  # fmt: skip
def test_what_is_not_of_the_apis_shape_is_a_sentence_and_the_profile_holds(fault: str, said: Any) -> None:
    assert read(said) == AutoscalingPolicy(faults=(fault,))


@pytest.fixture
def api() -> Iterator[Script]:
    with scripted() as script:
        yield script


@pytest.fixture
def cluster(api: Script) -> KubernetesCluster:
    return KubernetesCluster(KubernetesClient(access_to(api.address), sleep=no_wait, read_seconds=2), now=lambda: NOW)


@pytest.mark.parametrize(
    ("expected", "said"),
    [
        pytest.param(NO_CLASSES, [NO_GROUP], id="a cluster without the kind"),
        pytest.param(ComputeClasses({"web": REAPS}), [versions("v1"), served("computeclasses"),
                     listed(of_class("web", REAPER))], id="one of them"),
        pytest.param(ComputeClasses(unread=True), [versions("v1"), served("computeclasses"),
                     Say(403, status(403, "forbidden"))], id="some that may not be read"),
    ],
)  # fmt: skip
def test_the_classes_are_found_by_discovery(
    api: Script, cluster: KubernetesCluster, expected: ComputeClasses, said: list[Say]
) -> None:
    api.says(NO_GROUP, *said)
    assert cluster.buffers()[1] == expected


def test_a_dump_holds_them_and_one_under_other_names_shows_the_same() -> None:
    contents, hidden, given = DumpContents(), DumpContents(), of_class("web", {**REAPER, "secret": "acme"})
    contents.add("ComputeClass", json.dumps(given).encode())
    namer = Namer()
    KINDS["ComputeClass"](namer, given)
    namer.rank_names()
    hidden.add("ComputeClass", json.dumps(KINDS["ComputeClass"](namer, given)).encode())

    assert contents.to_reading().compute_classes == ComputeClasses({"web": REAPS})
    assert tuple(hidden.to_reading().compute_classes.found.values()) == (REAPS,)
