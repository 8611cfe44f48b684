"""An installation of fakes whose drainer is pushed what a person's command published, while that command waits."""

from functions.cli.drains.client import Installation
from functions.drainer.main import PushReply
from tests.builders import CLUSTER
from tests.functions.fake_ebb import FakeEbb

TOPIC = "projects/p/topics/orders"


class Subscription:
    """Delivers one message whenever time passes and no step is at work; what is not acknowledged comes again."""

    def __init__(self, fake_ebb: FakeEbb) -> None:
        self._fake_ebb = fake_ebb
        self._next = 0
        self._at_work = False
        fake_ebb.clock.moves.append(self._push)

    def _push(self) -> None:
        if self._at_work or self._next >= len(self._fake_ebb.bus.published):
            return
        self._at_work = True
        if self._fake_ebb.deliver(self._fake_ebb.bus.published[self._next]) is PushReply.DONE:
            self._next += 1
        self._at_work = False


def installation_of(fake_ebb: FakeEbb, *, pushed: bool = True, cluster: str = CLUSTER) -> Installation:
    """Return what a command works with; `pushed=False` is a topic whose subscription is missing."""
    if pushed:
        Subscription(fake_ebb)
    return Installation(cluster, TOPIC, fake_ebb.state, fake_ebb.bus, fake_ebb.clock, "jane")
