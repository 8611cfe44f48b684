"""Free ports on loopback, for processes that must be told where to listen."""

import socket
from contextlib import ExitStack


def free_ports(count: int) -> list[int]:
    """Return `count` different loopback TCP ports that nobody listens on now.

    The kernel picks them at random from its ephemeral range, so two programs that ask at the same moment hardly
    ever get the same ones.
    """
    with ExitStack() as held:
        probes = [held.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]
