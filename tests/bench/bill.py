"""A month's cost of a day's count, at list prices of us-central1 in dollars; not verified on the day of reading."""

from dataclasses import dataclass
from typing import Final

DAYS: Final = 30
PRICES_AS_OF: Final = "2025"


@dataclass(frozen=True)
class Item:
    """Something that is billed: `price` is for one, `free` is what each month has for nothing."""

    what: str
    price: float
    free: float
    free_as_listed: str
    listed: str
    """The price as the page says it."""
    page: str
    of_one_cluster: bool = False
    """Whether one cluster alone has what is free; else all that a billing account or a project pays for share it."""

    def dollars(self, a_day: float) -> float:
        return max(0.0, a_day * DAYS - self.free) * self.price

    def dollars_at_most(self, a_day: float) -> float:
        """Return a month's cost when something else has used the free tier up."""
        return a_day * DAYS * self.price

    def dollars_of(self, clusters: int, a_day: float) -> float:
        if self.of_one_cluster:
            return self.dollars(a_day) + (clusters - 1) * self.dollars_at_most(a_day)
        return self.dollars(clusters * a_day)


_RUN: Final = "cloud.google.com/run/pricing"
_SCHEDULER: Final = "cloud.google.com/scheduler/pricing"
_PUBSUB: Final = "cloud.google.com/pubsub/pricing"
_STATE: Final = "cloud.google.com/firestore/pricing"
_BUCKET: Final = "cloud.google.com/storage/pricing"
_OBSERVABILITY: Final = "cloud.google.com/stackdriver/pricing"
ITEMS: Final = {
    "requests": Item("calls of the functions", 0.4e-6, 2e6, "2 million a billing account", "$0.40 a million", _RUN),
    "vcpu seconds": Item("vCPU-seconds", 24e-6, 180e3, "180,000 a billing account", "$0.000024", _RUN),
    "gib seconds": Item("GiB-seconds of memory", 2.5e-6, 360e3, "360,000 a billing account", "$0.0000025", _RUN),
    "jobs": Item("Scheduler jobs", 0.1 / DAYS, 3 * DAYS, "3 a billing account", "$0.10", _SCHEDULER),
    "message bytes": Item("Pub/Sub bytes", 40 / 2**40, 10 * 2**30, "10 GiB a billing account", "$40 a TiB", _PUBSUB),
    "reads": Item("Firestore reads", 0.03e-5, 50e3 * DAYS, "50,000 a day, one database", "$0.03 for 100,000", _STATE,
                  of_one_cluster=True),
    "writes": Item("Firestore writes", 0.09e-5, 20e3 * DAYS, "20,000 a day, one database", "$0.09 for 100,000", _STATE,
                   of_one_cluster=True),
    "deletes": Item("Firestore deletes (TTL)", 0.01e-5, 0, "none", "$0.01 for 100,000", _STATE,
                    of_one_cluster=True),
    "objects": Item("Cloud Storage reads", 0.4e-6, 50e3, "50,000 in three US regions", "$0.004 for 10,000", _BUCKET),
    "log bytes": Item("log bytes", 0.5 / 2**30, 50 * 2**30, "50 GiB a project", "$0.50 a GiB", _OBSERVABILITY),
    "metric bytes": Item("metric bytes", 0.258 / 2**20, 150 * 2**20, "150 MiB a billing account", "$0.258 a MiB",
                         _OBSERVABILITY),
}  # fmt: skip
