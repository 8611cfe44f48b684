import base64
from datetime import timedelta
from typing import Any

import pytest

from shared.adapters.gke import Endpoint, GkeCluster, LabelPools
from shared.core.cluster.node import NodePool
from shared.core.cluster.resources import NOTHING, Resources
from shared.errors import BadSettings, EbbError, Retryable, Terminal
from shared.ports import PoolsReading
from tests.adapters.scripted import Say, Script
from tests.builders import resources
from tests.depth import cases

HOUR = timedelta(hours=1)
NAME = "projects/p/locations/europe-west4/clusters/c"
PEM = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"


def gke(api: Script) -> GkeCluster:
    return GkeCluster(NAME, api=api.address)


def body(*pools: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A cluster in the REST form of google.container.v1, as GKE writes it: defaults left out."""
    ca = base64.b64encode(PEM.encode()).decode()
    return {
        "name": "c",
        "endpoint": "34.1.1.1",
        "masterAuth": {"clusterCaCertificate": ca},
        "nodePools": pools,
        **changes,
    }


def autoscaling(**changes: Any) -> dict[str, Any]:
    return {"autoscaling": {"enabled": True, **changes}}


BLUE_GREEN = {"blueGreenInfo": {"phase": "DRAINING_BLUE_POOL"}}


@cases(
    "expected, pool",
    ("not autoscaled", {"autoscaled": False}, {"autoscaling": {}}),
    ("from zero", {}, autoscaling(maxNodeCount=9)),
    ("a minimum per zone", {"min_per_zone": 2}, autoscaling(minNodeCount=2)),
    ("a minimum in total", {"min_total": 3}, autoscaling(totalMinNodeCount=3)),
    ("work under way", {"upgrading": True}, {"status": "RECONCILING"}),
    ("being deleted", {"upgrading": True}, {"status": "STOPPING"}),
    ("a blue-green upgrade", {"upgrading": True}, {"updateInfo": BLUE_GREEN}),
    ("a blue-green upgrade in a phase of a newer GKE", {"upgrading": True},
     {"updateInfo": {"blueGreenInfo": {"phase": "WAITING_TO_DRAIN", "greenPoolVersion": "1.36"}}}),
    ("a slice of TPUs", {"tpu_topology": "4x8"}, {"placementPolicy": {"tpuTopology": "4x8"}}),
    ("a slice of TPUs by a policy of the user's", {"tpu_topology": "2x2x2"},
     {"placementPolicy": {"policyName": "mine", "tpuTopology": "2x2x2"}}),
    ("queued", {"queued": True}, {"queuedProvisioning": {"enabled": True}}),
    ("placed close", {"compact": True}, {"placementPolicy": {"type": "COMPACT"}}),
    ("placed by the user's policy", {"compact": True}, {"placementPolicy": {"policyName": "mine"}}),
    ("its own delay", {"consolidation_delay": HOUR}, {"config": {"consolidationDelay": "3600s"}}),
    ("in steady state", {}, {"status": "RUNNING", "updateInfo": {}}),
)  # fmt: skip
def test_a_pools_limits_are_read(api: Script, expected: dict[str, Any], pool: dict[str, Any]) -> None:
    api.says(Say(body=body({"name": "a", **autoscaling(), **pool})))

    assert gke(api).read() == PoolsReading({"a": NodePool("a", **expected)}, known=True)
    assert api.calls == [("GET", f"/v1/{NAME}")]


@cases(
    "expected, autoscaling_of_the_cluster",
    ("unset", "BALANCED", {}),
    ("balanced", "BALANCED", {"autoscalingProfile": "BALANCED"}),
    ("optimize-utilization", "OPTIMIZE_UTILIZATION", {"autoscalingProfile": "OPTIMIZE_UTILIZATION"}),
)
def test_the_autoscaling_profile_is_read(
    api: Script, expected: str, autoscaling_of_the_cluster: dict[str, str]
) -> None:
    api.says(Say(body=body(autoscaling=autoscaling_of_the_cluster)))

    assert gke(api).read().profile == expected


@cases(
    "expected, limits",
    ("no auto-provisioning", NOTHING, None),
    ("cores and gigabytes", resources(20, 64), [
        {"resourceType": "cpu", "minimum": "20", "maximum": "200"},
        {"resourceType": "memory", "minimum": "64", "maximum": "900"},
        {"resourceType": "nvidia-tesla-t4", "minimum": "1", "maximum": "4"},
    ]),
    ("maximums alone", NOTHING, [{"resourceType": "cpu", "maximum": "200"}]),
)  # fmt: skip
def test_what_the_autoscaler_keeps_at_least_is_read(api: Script, expected: Resources, limits: Any) -> None:
    given = {} if limits is None else {"enableNodeAutoprovisioning": True, "resourceLimits": limits}
    api.says(Say(body=body(autoscaling=given)))

    assert gke(api).read().minimum == expected


def refusal(code: int) -> Say:
    return Say(code, {"error": {"message": "denied"}})


def cluster(**changes: Any) -> Say:
    return Say(body=body(**changes))


@cases(
    "expected, sentence, say",
    ("not found", Terminal, "GKE API", refusal(404)),
    ("not allowed", Terminal, r"denied.*container\.clusters\.get", refusal(403)),
    ("unavailable", Retryable, "GKE API", refusal(503)),
    ("over quota", Retryable, "GKE API", refusal(429)),
    ("an answer that is none of GKE's", Retryable, "GKE API", Say(body=b"<html>")),
    ("Autopilot", Terminal, "is an Autopilot cluster: its", cluster(autopilot={"enabled": True})),
    ("an odd CA", Terminal, "CA cert", cluster(masterAuth={"clusterCaCertificate": "%%%"})),
)
def test_every_failure_has_its_name(api: Script, expected: type[EbbError], sentence: str, say: Say) -> None:
    api.says(say)

    with pytest.raises(expected, match=sentence):
        gke(api).endpoint()


DNS = Endpoint("uid.europe-west4.gke.goog", None)
PUBLIC = Endpoint("34.1.1.1", PEM)
PRIVATE = Endpoint("10.0.0.2", PEM)


def control_plane(*, dns: bool = False, public: bool = False, private: bool = False) -> dict[str, Any]:
    addresses = {"publicEndpoint": PUBLIC.host if public else "", "privateEndpoint": PRIVATE.host if private else ""}
    config = {
        "dnsEndpointConfig": {"endpoint": DNS.host, "allowExternalTraffic": dns},
        "ipEndpointsConfig": {"enabled": public or private, **addresses},
    }
    endpoint = PUBLIC.host if public else PRIVATE.host if private else ""
    return body(controlPlaneEndpointsConfig=config, endpoint=endpoint)


OLDER = body(
    privateClusterConfig={"privateEndpoint": PRIVATE.host, "publicEndpoint": PUBLIC.host}, endpoint=PRIVATE.host
)


@cases(
    "expected, mode, said",
    ("auto: dns where it is open", DNS, "auto", control_plane(dns=True, public=True, private=True)),
    ("auto: public next", PUBLIC, "auto", control_plane(public=True, private=True)),
    ("auto: private where it is all there is", PRIVATE, "auto", control_plane(private=True)),
    ("dns", DNS, "dns", control_plane(dns=True, public=True)),
    ("public", PUBLIC, "public", control_plane(dns=True, public=True)),
    ("private", PRIVATE, "private", control_plane(dns=True, public=True, private=True)),
    ("public, of an older private cluster", PUBLIC, "public", OLDER),
    ("private, of an older one", PRIVATE, "private", OLDER),
)
def test_the_endpoint_is_chosen_as_asked(api: Script, expected: Endpoint, mode: str, said: dict[str, Any]) -> None:
    api.says(Say(body=said))

    assert gke(api).endpoint(mode) == expected


@cases(
    "mode, given",
    ("dns is closed", "dns", {"public": True}),
    ("no private endpoint", "private", {"dns": True}),
    ("the only IP endpoint is private", "public", {"private": True}),
    ("none at all", "auto", {}),
)
def test_an_endpoint_that_is_not_there_is_refused_with_a_remedy(api: Script, mode: str, given: dict[str, bool]) -> None:
    api.says(Say(body=control_plane(**given)))

    with pytest.raises(BadSettings, match=f"EBB_ENDPOINT: .* at its {mode} endpoint; "):
        gke(api).endpoint(mode)


def test_without_a_gke_api_nothing_is_known_of_the_pools() -> None:
    assert LabelPools().read() == PoolsReading({}, known=False)
