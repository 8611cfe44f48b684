"""`python -m infra.local.control_plane`: a real control plane to play with by hand."""

import argparse
import os
import signal
import sys
from pathlib import Path
from types import FrameType

from infra.local import leash
from infra.local.control_plane import assets
from infra.local.control_plane.cluster import ControlPlaneError, create, destroy, processes
from infra.local.control_plane.layout import Layout

_AGAIN = "python -m infra.local.control_plane"


def build(_: argparse.Namespace) -> None:
    """Print the folder of the binaries, building them first if need be."""
    print(assets.locate())  # noqa: T201 - the command's answer


def up(options: argparse.Namespace) -> None:
    """Start the control plane and leave it running."""
    layout = _standing()
    if processes(layout):
        raise ControlPlaneError(f"a control plane is up already: {layout.kubeconfig} (stop it: {_AGAIN} down)")
    destroy(layout)
    try:
        create(layout, assets.locate(), options.scoring)
    except ControlPlaneError:
        destroy(layout)
        raise
    sys.stdout.write(
        f"export KUBECONFIG={layout.kubeconfig}\n"
        f"# kubectl: {layout.bin / 'kubectl'}\n"
        f"# without TLS: {layout.proxy_url()}\n"
        f"# stop it: {_AGAIN} down\n"
    )


def down(_: argparse.Namespace) -> None:
    """End the control plane that `up` started, and forget its state."""
    destroy(_standing())


def guard(options: argparse.Namespace) -> None:
    """End the control plane in a folder as soon as whoever started this command has gone."""
    signal.signal(signal.SIGTERM, _ask_to_end)
    try:
        leash.wait_for_starter()
    finally:
        destroy(Layout(options.folder))


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog=_AGAIN, description=__doc__)
    commands = parser.add_subparsers(required=True)
    for command in (build, up, down, guard):
        sub = commands.add_parser(command.__name__, help=command.__doc__)
        sub.set_defaults(command=command)
        if command is up:
            sub.add_argument("--scoring", choices=["least-allocated", "most-allocated"], default="least-allocated")
        if command is guard:
            sub.add_argument("folder", type=Path)
    options = parser.parse_args(arguments)
    try:
        options.command(options)
    except (assets.AssetsError, ControlPlaneError) as failure:
        sys.stderr.write(f"{failure}\n")
        return 1
    return 0


def _standing() -> Layout:
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return Layout(state / "ebb" / "control-plane")


def _ask_to_end(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
