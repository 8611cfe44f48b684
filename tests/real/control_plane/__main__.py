"""`python -m tests.real.control_plane`: a real control plane to play with by hand."""

import argparse
import os
import sys
from contextlib import closing
from pathlib import Path

from tests.real.control_plane import AssetsError, assets
from tests.real.control_plane.api import Api, ApiError
from tests.real.control_plane.cluster import ControlPlaneError, create, destroy, processes
from tests.real.control_plane.configuration import PORTS
from tests.real.control_plane.layout import Layout
from tests.real.control_plane.manifests import nodes
from tests.real.held_ports import HeldPorts

_AGAIN = "python -m tests.real.control_plane"


def build(_: argparse.Namespace) -> None:
    """Print the folder of the binaries, building them first if need be."""
    print(assets.locate())  # noqa: T201 - the command's answer


def up(options: argparse.Namespace) -> None:
    """Start the control plane and leave it running, with some nodes if asked."""
    layout = _standing()
    if processes(layout):
        raise ControlPlaneError(f"a control plane is up already: {layout.kubeconfig} (stop it: {_AGAIN} down)")
    destroy(layout)
    try:
        with closing(HeldPorts(len(PORTS))) as ports:
            create(layout, assets.locate(), options.scoring, ports.numbers)
        url = layout.proxy_url() or ""
        Api(url).create(nodes(options.nodes))
    except (ApiError, ControlPlaneError):
        destroy(layout)
        raise
    sys.stdout.write(
        f"export KUBECONFIG={layout.kubeconfig}\n"
        f"# kubectl: {layout.bin / 'kubectl'}\n"
        f"# without TLS: {url}\n"
        f"# stop it: {_AGAIN} down\n"
    )


def down(_: argparse.Namespace) -> None:
    """End the control plane that `up` started, and forget its state."""
    destroy(_standing())


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog=_AGAIN, description=__doc__)
    commands = parser.add_subparsers(required=True)
    for command in (build, up, down):
        sub = commands.add_parser(command.__name__, help=command.__doc__)
        sub.set_defaults(command=command)
        if command is up:
            sub.add_argument("--nodes", type=int, default=0, help="how many GKE-like nodes it has (default 0)")
            scorings = ["least-allocated", "most-allocated"]
            sub.add_argument("--scoring", choices=scorings, default=scorings[0], help="of the scheduler")
    options = parser.parse_args(arguments)
    try:
        options.command(options)
    except (AssetsError, ApiError, ControlPlaneError) as failure:
        sys.stderr.write(f"{failure}\n")
        return 1
    return 0


def _standing() -> Layout:
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return Layout(state / "ebb" / "control-plane")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
