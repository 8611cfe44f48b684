"""For each word with which a drain is given back a history that reaches it."""

import re
from collections.abc import Mapping
from functools import cache, partial
from typing import Any, Final

from infra.local.http_messages import HttpAnswer, HttpRequest, answer_json
from infra.local.world.kinds import Json
from shared.core.reasons import ReturnReason
from tests.faults.call_faults import CallFault
from tests.faults.catalog import calls
from tests.faults.directed import plain
from tests.faults.history import History
from tests.faults.installation import Installation
from tests.faults.people import Act, holder
from tests.faults.provider import Deed, ask, scaled
from tests.faults.surging_worlds import undo_restart
from tests.faults.worlds import STAYS, Limits, Setting, setting, spare_room, workload

AGENT: Final = "person"
_DENIED: Final = {
    "kind": "Status", "status": "Failure", "reason": "Forbidden", "code": 403,
    "message": 'admission webhook "guard.example.com" denied the request: not now',
}  # fmt: skip


def _held(ebb: Installation) -> Json:
    nodes = ebb.cloud.world.store.all("nodes")
    return next((node for node in nodes if holder(node)), nodes[0])


def _refuse_calls(ebb: Installation, method: str, path: str) -> None:
    """Let requests of that method whose whole path matches be denied from now on."""
    answer = ebb.cloud.api.answering

    def deny(request: HttpRequest) -> HttpAnswer:
        hit = request.method == method and re.fullmatch(path, request.path)
        return answer_json(403, _DENIED) if hit else answer(request)

    ebb.cloud.api.answering = deny


def _deny(app: str) -> Deed:
    path = f".*/pods/{app}-[^/]*/eviction"
    return Deed(f"a webhook denies to evict {app}", lambda ebb: _refuse_calls(ebb, "POST", path))


def _budget(app: str, **spec: Any) -> Deed:
    body = {"metadata": {"name": f"late-{app}"}, "spec": {"selector": {"matchLabels": {"app": app}}, **spec}}
    path = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
    return Deed(f"a budget for {app}", lambda ebb: ask(ebb, AGENT, "POST", path, body))


def _pod(node: Json) -> Json:
    container = {"name": "main", "image": "x", "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}}}
    return {"containers": [container], "terminationGracePeriodSeconds": 5, "nodeName": node["metadata"]["name"]}


def _alone(ebb: Installation) -> None:
    """A pod that nobody would bring back, put there past the scheduler."""
    body = {"metadata": {"name": "alone", "labels": {"app": "alone"}}, "spec": _pod(_held(ebb))}
    ask(ebb, AGENT, "POST", "/api/v1/namespaces/default/pods", body)


def _job(ebb: Installation) -> None:
    template = {"metadata": {"labels": {"app": "job"}}, "spec": {**_pod(_held(ebb)), "restartPolicy": "Never"}}
    body = {"metadata": {"name": "job"}, "spec": {"template": template}}
    ask(ebb, AGENT, "POST", "/apis/batch/v1/namespaces/default/jobs", body)


def _huge(ebb: Installation) -> None:
    body = {"metadata": {"name": "huge", "labels": {"app": "huge"}}, "spec": _pod(_held(ebb))}
    del body["spec"]["nodeName"]
    body["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "64"
    ask(ebb, AGENT, "POST", "/api/v1/namespaces/default/pods", body)


def _late(base: Setting, what: str, since: float, fault: CallFault) -> Mapping[int, CallFault]:
    """Let every such call of the drains be late that the history without faults makes in the second after `since`."""
    made = [call for call in calls(History(base)) if call.actor.startswith("push") and call.what.startswith(what)]
    begun = min(call.at for call in calls(History(base)))
    return {call.number: fault for call in made if since <= call.at - begun < since + 1.0}


@cache
def one_after_another() -> Setting:
    """Four nodes that may go, two in a pass, each with a pod of its own, and room for all on the fifth and sixth."""
    apps = [workload(name, [place], cpu=300) for place, name in enumerate("abcd")]
    limits = Limits(minimum_nodes=1, pool_minimum=0, timeout=200.0)
    return setting(
        "one after another", [*apps, workload("rest", [4, 5], cpu=900)], nodes=6, limits=limits, enabled=False
    )


def single_replicas(webhooks: tuple[tuple[str, dict[str, str]], ...] = (), **one: Any) -> Setting:
    kept = [workload(f"kept{place}", [place], cpu=200, **STAYS) for place in (1, 2, 3, 4)]
    limits = Limits(minimum_nodes=1, pool_minimum=0, single_replicas="surge")
    own = workload("one", [0], cpu=300, **one)
    return setting("a single replica", [own, *kept], limits=limits, webhooks=webhooks, enabled=False)


@cache
def room_that_falls() -> Setting:
    """A buffer that has room until somebody grows into it; the autoscaler counts often, and deletes late."""
    web = workload("web", [0, 1, 2, 3, 4], pdb={"maxUnavailable": 1})
    few = Limits(minimum_nodes=3, pool_minimum=0)
    api = workload("api", [4], cpu=200)
    times: dict[str, Any] = {"scanInterval": 10, "unneededTime": 300, "threshold": 0.0}
    return setting(
        "room of a buffer that falls", [web, api], limits=few, manifests=spare_room("spare", 1, 1200), **times
    )


def histories() -> Mapping[ReturnReason, History]:
    surging, stuck = single_replicas(), single_replicas(readyAfter=9999)
    two, late = plain("two may go").setting, plain("nobody deletes").setting
    deny_restarts = partial(_refuse_calls, method="PATCH", path=".*/deployments/one")
    forbidden = ((3.5, _deny("a")), (3.5, _deny("b")), (95.0, _deny("c")))
    return {
        ReturnReason.DEADLINE: History(two, acts=((6.0, _budget("db", maxUnavailable=0)),)),
        ReturnReason.PAUSED: History(late, acts=((30.0, Act("pause")),)),
        ReturnReason.EVICTION_FORBIDDEN: History(two, acts=((6.0, _deny("web")),)),
        ReturnReason.SEVERAL_PDBS: History(
            two,
            faults=_late(two, "create pods/eviction", 5.5, CallFault(before=2.0)),
            acts=((7.0, _budget("web", maxUnavailable=1)),),
        ),
        ReturnReason.POD_BLOCKS: History(two, acts=((8.0, Deed("a pod of nobody", _alone)),)),
        ReturnReason.POD_WAITS: History(two, acts=((8.0, Deed("a Job's pod", _job)),)),
        ReturnReason.REPLACEMENT_PENDING: plain("a webhook that nobody knows"),
        ReturnReason.SURGE_PENDING: History(single_replicas((("one", {"cpu": "9"}),))),
        ReturnReason.SURGE_FAILED: History(stuck, acts=((15.0, undo_restart("one")),)),
        ReturnReason.SURGE_REFUSED: History(surging, acts=((3.5, Deed("a webhook denies restarts", deny_restarts)),)),
        ReturnReason.DEMAND: History(late, acts=tuple((float(at), Act("rival")) for at in (40, 41, 42, 43, 44, 45))),
        ReturnReason.BUFFER: History(room_that_falls(), acts=((40.0, scaled("api", 4)),)),
        ReturnReason.BREAKER: History(
            one_after_another(),
            acts=(*forbidden, (95.0, _budget("d", maxUnavailable=0)), (100.0, Deed("a pod too large", _huge))),
        ),
        ReturnReason.WATCHDOG: History(late),
        ReturnReason.ORPHAN: History(late, acts=((60.0, Act("lose the state")),)),
        ReturnReason.RELEASED: History(late, acts=((30.0, Act("release")),)),
        ReturnReason.OVERRULED: History(late, acts=((30.0, Act("take back")),)),
        ReturnReason.CORDONED_BY_OTHER: History(two, acts=((1.0, Act("cordon")),)),
        ReturnReason.GOING_AWAY: History(
            two, faults=_late(two, "put cluster", 1.0, CallFault(after=3.0)), acts=((2.5, Act("start")),)
        ),
        ReturnReason.STALE: History(two, acts=((6.0, Act("delete", 2)),)),
    }
