"""Kubelets that look again at pods that should run by now.

A real kubelet looks at each of its pods about once a minute. kwok 0.8.0 acts on events alone, and of a hundred pods on
a busy machine it now and then loses one between "its containers are being made" and Ready: that pod then waits for
ever. A change of any annotation is an event, after which kwok goes on.
"""

import re
import threading
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from shared.adapters.process import system_time
from tests.real.control_plane.api import MERGE_PATCH, Api, ApiError

LOOK_EVERY: Final = 5.0
LATE: Final = timedelta(seconds=10)
LONGEST: Final = timedelta(seconds=5)
"""What a pod takes that sets no pace of its own (stages.yaml)."""
_PACE: Final = "kwok.ebb.internal/readiness"
_LOOKED: Final = "kwok.ebb.internal/looked-at"
_UNITS: Final = {
    "ms": timedelta(milliseconds=1),
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
}


class Resync:
    """A thread that looks while the control plane runs; it ends with `close`."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self.looked_again: set[str] = set()
        """The UIDs of the pods that kwok had lost."""
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._ending.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ending.wait(LOOK_EVERY):
            try:
                self._look(system_time())
            except (OSError, ApiError):  # a test has paused the API server, or it is overloaded: the next look is soon
                continue

    def _look(self, now: datetime) -> None:
        for pod in self._api.items("/api/v1/pods?fieldSelector=status.phase%3DPending"):
            if is_overdue(pod, now):
                meta, note = pod["metadata"], {"metadata": {"annotations": {_LOOKED: now.isoformat()}}}
                path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
                self._api.request("PATCH", path, note, MERGE_PATCH)
                self.looked_again.add(meta["uid"])


def is_overdue(pod: Mapping[str, Any], now: datetime) -> bool:
    began = pod["status"].get("startTime")
    if began is None or "deletionTimestamp" in pod["metadata"]:
        return False
    pace = pod["metadata"].get("annotations", {}).get(_PACE)
    return now > datetime.fromisoformat(began) + (_duration(pace) if pace else LONGEST) + LATE


def _duration(text: str) -> timedelta:
    found = re.fullmatch(r"(\d+)(ms|s|m|h)", text)
    return int(found[1]) * _UNITS[found[2]] if found else LONGEST
