"""`ebb demo` is the story that `infra.local.demo` tells, in this very process: the commands do not import it.

Must not know anything of the story.
"""

import os
import sys
from pathlib import Path
from typing import Final, NoReturn

import functions

_ROOT: Final = Path(functions.__file__ or "").resolve().parent.parent


def become_the_demo(logs: Path | None, *, keep: bool = False) -> NoReturn:
    """Replace this process by the demo; `logs` is the folder in which it keeps what its processes wrote.

    With `keep` all of it stays up at the end, until Ctrl-C.

    The folder that a person stands in is kept off the path (`-P`): it may well have an `infra` of its own.
    """
    kept = [*([] if logs is None else ["--logs", str(logs)]), *(["--keep"] if keep else [])]
    path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-P", "-m", "infra.local.demo", *kept]
    os.execve(sys.executable, command, {**os.environ, "PYTHONPATH": path})  # noqa: S606 - our own module
