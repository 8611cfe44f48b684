"""Events as the components of a cluster write them: one per object, reason and message, counted when repeated."""

import hashlib

from infra.local.clocks import stamp
from infra.local.world.kinds import Json
from infra.local.world.store import Store


def emit(store: Store, about: Json, reason: str, message: str, component: str) -> None:
    """Write an event on an object, or count one more of the same. `Warning` for a reason that says Failed."""
    meta = about["metadata"]
    namespace = meta.get("namespace", "default")
    digest = hashlib.sha256(f"{meta['uid']}/{reason}/{message}/{component}".encode()).hexdigest()[:16]
    name, now = f"{meta['name']}.{digest}", stamp(store.clock.now())

    def again(event: Json) -> None:
        event["count"] += 1
        event["lastTimestamp"] = now

    if store.find("events", namespace, name) is not None:
        store.update("events", namespace, name, again, component)
        return
    store.create(
        "events",
        {
            "metadata": {"name": name, "namespace": namespace},
            "involvedObject": {
                "apiVersion": about["apiVersion"],
                "kind": about["kind"],
                "name": meta["name"],
                "namespace": meta.get("namespace", ""),
                "uid": meta["uid"],
            },
            "reason": reason,
            "message": message,
            "type": "Warning" if "Failed" in reason else "Normal",
            "source": {"component": component},
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
        },
        component,
    )
