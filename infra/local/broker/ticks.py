"""A Cloud Scheduler job: one HTTP call at each scheduled time, never two at once, a late one delayed and not dropped.

Source: https://cloud.google.com/scheduler/docs. Pure: `due` says when to call, `finish` that the call has ended.
"""

from dataclasses import dataclass, field

from infra.local.clocks import TimeSource, stamp


@dataclass
class TickJob:
    """Calls `url` every `every` seconds; the header's job name is its last part."""

    name: str
    url: str
    every: float
    clock: TimeSource
    attempt_deadline: float = 180.0
    running: bool = False
    paused: bool = False
    _next: float = field(init=False)

    def __post_init__(self) -> None:
        self._next = self.clock.now()

    def due(self) -> dict[str, str] | None:
        """The headers of the call to make now, or None; a call that is due while one runs waits for its end."""
        if self.running or self.paused or self.clock.now() < self._next:
            return None
        scheduled, self._next = self._next, self._next + self.every
        self._next = max(self._next, self.clock.now())
        self.running = True
        return {
            "X-CloudScheduler": "true",
            "X-CloudScheduler-JobName": self.name.rpartition("/")[2],
            "X-CloudScheduler-ScheduleTime": stamp(scheduled),
            "User-Agent": "Google-Cloud-Scheduler",
        }

    def finish(self) -> None:
        """The call has been answered, or its attempt deadline has passed."""
        self.running = False
