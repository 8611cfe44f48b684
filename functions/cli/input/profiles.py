"""Which installation a command acts on: a file of variables that Terraform's output `cli` writes, found by its name.

terraform output -raw cli > ~/.config/ebb/prod.env      then: ebb status --cluster prod

Read as text and never run by a shell: only the variables that Ebb and Google's libraries know may stand there.
"""

import os
import re
import shlex
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Final

import typer

from shared.errors import BadInput

SUFFIX: Final = ".env"
CLUSTER: Final = "EBB_CLUSTER"
_NAME: Final = re.compile(r"(EBB_[A-Z_]+|GOOGLE_CLOUD_PROJECT|[A-Z]+_EMULATOR_HOST)=(.*)", re.DOTALL)
_MOST_BYTES: Final = 64 * 1024


def use_profile(cluster: str | None, environment: MutableMapping[str, str] = os.environ) -> None:
    """Put the profile that is meant into the environment: the only one, if none is named. Raises BadInput."""
    if not cluster and environment.get(CLUSTER):
        return
    path = profile_path(cluster, environment) if cluster else _only_one(environment)
    if path is None:
        return
    found = read_profile(path)
    if found.get(CLUSTER) != environment.get(CLUSTER):  # settings for another cluster would be mixed up with these
        for name in [name for name in environment if name.startswith("EBB_")]:
            del environment[name]
    environment.update(found)


def read_profile(path: Path) -> dict[str, str]:
    """Return the variables of a file of lines like `export NAME='value'`. Raises BadInput, with the line."""
    try:
        text = path.read_bytes()[:_MOST_BYTES].decode()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read ({error}).") from error
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        found.update(_variable(path, number, line))
    return found


def profile_folder(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "ebb"


def _variable(path: Path, number: int, line: str) -> dict[str, str]:
    try:
        words = shlex.split(line, comments=True)
    except ValueError as error:
        raise BadInput(f"{path}:{number}: {error}.") from error
    given = words[1:] if words[:1] == ["export"] else words
    matches = [_NAME.fullmatch(word) for word in given]
    if not all(matches):
        raise BadInput(f"{path}:{number}: this is no variable of Ebb's; terraform output -raw cli writes such a file.")
    return {match[1]: match[2] for match in matches if match}


def profile_path(name: str, environment: Mapping[str, str]) -> Path:
    """Return the file that `--cluster NAME` means. Raises BadInput: there is none."""
    path = Path(name).expanduser()
    if len(path.parts) == 1 and not path.is_file():
        path = profile_folder(environment) / f"{name.removesuffix(SUFFIX)}{SUFFIX}"
    if path.is_file():
        return path
    known = ", ".join(path.stem for path in profiles(environment)) or "none yet"
    raise BadInput(f"--cluster: no file {path} (there: {known}); write it: terraform output -raw cli > {path}")


def _only_one(environment: Mapping[str, str]) -> Path | None:
    found = profiles(environment)
    if len(found) > 1:
        raise BadInput(f"Which cluster? Write --cluster and one of {', '.join(path.stem for path in found)}.")
    if found:
        typer.echo(f"ebb: the cluster of {found[0]}", err=True)
    return found[0] if found else None


def profiles(environment: Mapping[str, str]) -> list[Path]:
    return sorted(profile_folder(environment).glob(f"*{SUFFIX}"))
