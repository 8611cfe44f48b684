"""`python -m tests.real.control_plane.guard FOLDER`: ends a control plane once whoever started it has gone."""

import sys
from pathlib import Path

from infra.local import bound_process
from tests.real.control_plane.cluster import destroy
from tests.real.control_plane.layout import Layout


def main(folder: Path) -> None:
    bound_process.exit_on_sigterm()
    try:
        while not bound_process.starter_has_gone():
            pass
    finally:
        destroy(Layout(folder))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
