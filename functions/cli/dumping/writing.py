"""Files of a dump that come whole or not at all: what is broken off leaves nothing that looks like a dump."""

import gzip
import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from shared.errors import BadInput


@contextmanager
def folder_of_its_own() -> Iterator[Path]:
    """Give a folder for what has to be read again; it is gone in the end."""
    with TemporaryDirectory(prefix="ebb-dump-") as folder:
        yield Path(folder)


def write_pieces(path: Path | None, pieces: Iterable[bytes]) -> None:
    """Write a file, packed where its name says so, or stdout.

    Raises:
        BadInput: it cannot be written.
    """
    if path is None:
        sys.stdout.buffer.writelines(pieces)
        sys.stdout.buffer.flush()
        return
    unfinished = path.with_name(f".{path.name}.part")
    try:
        with gzip.open(unfinished, "wb") if path.suffix == ".gz" else unfinished.open("wb") as file:
            file.writelines(pieces)
        unfinished.replace(path)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written ({error.strerror}).") from error
    finally:
        unfinished.unlink(missing_ok=True)


def write_table(path: Path, table: Any) -> None:
    """Write which name stands for which, for nobody else's eyes.

    Raises:
        BadInput: it cannot be written.
    """
    write_pieces(path, [json.dumps(table, indent=1, sort_keys=True).encode()])
    path.chmod(0o600)
