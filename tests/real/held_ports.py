"""Ports on loopback for programs that must be told where to listen, each kept for whoever uses it.

A port that was free when somebody asked may be another's before a slow program listens on it. So a lock file stands
for each port as long as it is held; the kernel drops the locks of a process that ends. The range lies below the ports
that kernels give to connections by themselves.
"""

import fcntl
import os
import secrets
import socket
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

RANGE: Final = range(20_000, 30_000)
_FOLDER: Final = Path(tempfile.gettempdir()) / f"ebb-ports-{os.getuid()}"


class HeldPorts:
    def __init__(self, count: int, among: Sequence[int] = RANGE) -> None:
        """Choose them at random: what still calls an old port must not reach who comes next."""
        _FOLDER.mkdir(exist_ok=True)
        self._locks: dict[int, int] = {}
        while len(self._locks) < count:
            self._try(secrets.choice(among))

    @property
    def numbers(self) -> list[int]:
        return list(self._locks)

    def close(self) -> None:
        for lock in self._locks.values():
            os.close(lock)
        self._locks.clear()

    def _try(self, port: int) -> None:
        lock = os.open(_FOLDER / str(port), os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:  # somebody holds it, or listens on it and asked nobody
            os.close(lock)
        else:
            self._locks[port] = lock
