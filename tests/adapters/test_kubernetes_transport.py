"""A warm instance finds its cluster again: on real TLS servers whose CA changes and which move to other ports."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from shared.adapters.gke import Endpoint
from shared.adapters.kubernetes.access import Access, from_gke
from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.transport import LOOK_AGAIN_AFTER, Call
from shared.errors import EbbError, Retryable, Terminal
from tests.adapters.certificates import Authority
from tests.adapters.objects import api_node
from tests.adapters.scripted import Say, Script, access_to, no_wait, scripted
from tests.adapters.test_kubernetes_access import Tokens
from tests.depth import cases
from tests.fakes import FakeClock

GET = Call("get", "nodes", "/api/v1/nodes/n1")
PATCH = Call("patch", "nodes", "/api/v1/nodes/n1", body={"metadata": {"resourceVersion": "7"}})
EVICT = Call("create", "pods/eviction", "/api/v1/namespaces/default/pods/p/eviction", body={"kind": "Eviction"})
OUTAGE = Retryable("GKE API", "no answer")


@dataclass
class Gke:
    """What the GKE API says of where the cluster is, and how often it was asked."""

    endpoint: Endpoint
    failure: EbbError | None = None
    asked: int = 0

    def find(self) -> Endpoint:
        self.asked += 1
        if self.failure is not None:
            raise self.failure
        return self.endpoint


@dataclass
class Plane:
    """A control plane that can be rotated: other CA, other port, both or neither."""

    folder: Path
    servers: ExitStack
    clock: FakeClock = field(default_factory=FakeClock)

    def __post_init__(self) -> None:
        self.authority = Authority(self.folder, "first")
        self.begin()
        self.gke = Gke(self.where())
        self.client = KubernetesClient(self.access(), sleep=no_wait, connect_seconds=2, monotonic=self.clock.monotonic)

    def begin(self) -> Script:
        self.server = ExitStack()
        self.script = self.server.enter_context(scripted(self.authority.server()))
        self.servers.callback(self.server.close)
        return self.script

    def rotate(self, *, told: bool = True) -> Script:
        """Close the old address and open another under another CA; `told` when the GKE API says so by now."""
        self.server.close()
        self.authority = Authority(self.folder, f"ca-{len(list(self.folder.iterdir()))}")
        self.begin()
        if told:
            self.gke.endpoint = self.where()
        return self.script

    def where(self) -> Endpoint:
        return Endpoint(self.script.address.removeprefix("https://"), self.authority.pem)

    def access(self) -> Access:
        tokens = Tokens()
        return from_gke(self.gke.endpoint, tokens, lambda: None, lambda: tokens.now, self.gke.find)


@pytest.fixture
def plane(tmp_path: Path) -> Iterator[Plane]:
    with ExitStack() as servers:
        yield Plane(tmp_path, servers)


def test_a_rotation_of_ca_and_address_is_followed(plane: Plane) -> None:
    plane.script.says(Say(body=api_node()))
    plane.client.ask(GET)

    plane.rotate().says(Say(body=api_node()), Say(body=api_node()))
    plane.client.ask(GET)
    plane.client.ask(GET)

    assert plane.gke.asked == 1
    assert [asked.headers["authorization"].startswith("Bearer token-") for asked in plane.script.asked] == [True, True]


def test_a_new_ca_at_the_old_name_is_followed(plane: Plane) -> None:
    """The address stays and another CA vouches for it: the client has the old CA still."""
    address = plane.gke.endpoint
    plane.rotate()
    plane.gke.endpoint = plane.where()
    stale = from_gke(
        Endpoint(plane.where().host, address.ca_pem), Tokens(), lambda: None, plane.clock.now, plane.gke.find
    )
    plane.script.says(Say(body=api_node()))

    KubernetesClient(stale, sleep=no_wait, monotonic=plane.clock.monotonic).ask(GET)

    assert plane.gke.asked == 1


@cases("call", ("a patch", PATCH), ("an eviction", EVICT))
def test_a_write_that_never_left_goes_the_new_way_once(plane: Plane, call: Call) -> None:
    plane.rotate().says(Say(body={}))

    plane.client.ask(call)

    assert [asked.body for asked in plane.script.asked] == [call.body]


def test_where_the_cluster_is_is_asked_at_most_once_a_minute(plane: Plane) -> None:
    plane.rotate(told=False)

    for _ in range(3):
        with pytest.raises(Retryable, match="Kubernetes API, get nodes"):
            plane.client.ask(GET)
    assert plane.gke.asked == 1

    plane.gke.endpoint = plane.where()
    plane.clock.advance(LOOK_AGAIN_AFTER)
    plane.script.says(Say(body=api_node()))
    plane.client.ask(GET)
    assert plane.gke.asked == 2


@cases("failure", ("an outage", OUTAGE), ("denied", Terminal("GKE API", "403")))
def test_a_gke_api_that_does_not_show_leaves_the_outage_as_it_is(plane: Plane, failure: EbbError) -> None:
    plane.rotate()
    plane.gke.failure = failure

    with pytest.raises(Retryable, match="Kubernetes API, get nodes: "):
        plane.client.ask(GET)


def test_a_second_rotation_is_followed_too(plane: Plane) -> None:
    for _ in range(2):
        plane.rotate().says(Say(body=api_node()))
        plane.client.ask(GET)
        plane.clock.advance(LOOK_AGAIN_AFTER)

    assert plane.gke.asked == 2


def test_calls_at_once_ask_once_and_all_go_the_new_way(plane: Plane) -> None:
    plane.rotate().says(*[Say(body=api_node())] * 8)

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: plane.client.ask(GET), range(8)))

    assert (len(answers), plane.gke.asked) == (8, 1)


def test_an_answer_is_no_reason_to_look_elsewhere(plane: Plane) -> None:
    plane.script.says(Say(503))

    with pytest.raises(Retryable):
        plane.client.ask(GET)

    assert plane.gke.asked == 0


@cases(
    "asked, resets, call",
    ("no reset", 1, 0, GET),
    ("one", 2, 1, GET),
    ("three", 4, 3, GET),
    ("a fourth is an outage", 4, 4, GET),
    ("a patch may have been done", 1, 1, PATCH),
    ("so may an eviction", 1, 1, EVICT),
)
def test_a_read_is_repeated_three_times_after_a_reset_and_a_write_is_not(
    api: Script, asked: int, resets: int, call: Call
) -> None:
    api.says(*[Say(reset=True)] * resets, Say(body=api_node()))
    client = KubernetesClient(access_to(api.address), sleep=no_wait)

    with nullcontext() if asked > resets else pytest.raises(Retryable, match="no answer"):
        client.ask(call)

    assert len(api.asked) == asked
