"""What an instance pays before its first answer: imports and clients, each function in fresh processes."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.adapters.scripted import kubeconfig as write_kubeconfig
from tests.measured_figures import cpu_of, say

_NOWHERE = "127.0.0.1:9"
_PROGRAM = """
import json, pathlib, re, time
# Not ru_maxrss: a process inherits that of the one that started it. Without /proc it is not told.
status = pathlib.Path("/proc/self/status")
def peak():
    found = re.search("VmHWM:\\s*([0-9]+) kB", status.read_text() if status.exists() else "")
    return int(found[1]) / 1024 if found else 0.0
def spent(): return [time.process_time(), peak()]
bare = spent()
import main
import functions.{function}.main
imported = spent()
from shared.wiring import ports_of
ports_of(main.SETTINGS)
print(json.dumps([bare, imported, spent()]))
"""


def run(*, quick: bool) -> None:
    for function in ("planner", "drainer"):
        rows = [measured(function) for _ in range(1 if quick else 5)]
        bare, imported, ready = (min(row[step][0] for row in rows) for step in range(3))
        memory = max(row[2][1] for row in rows)
        say(f"{function}: CPU seconds of imports, best of {len(rows)}", f"{imported - bare:.2f} s", "1.0 s at most")
        say(f"{function}: CPU seconds with its clients made", f"{ready - bare:.2f} s", "(told, not bounded)")
        say(f"{function}: peak memory with its clients made", f"{memory:.0f} MiB", "120 MiB at most")
    command_line(quick=quick)


_EMPTY = """
import typer
app = typer.Typer()
def version(wanted: bool) -> None:
    if wanted:
        raise typer.Exit
@app.callback()
def main(version: bool = typer.Option(False, "--version", callback=version, is_eager=True)) -> None: ...
@app.command()
def nothing() -> None: ...
app()
"""


def command_line(*, quick: bool) -> None:
    """Starts of `ebb` beside those of a program with one empty command."""
    for typed in (("--version",), ("--help",)):
        ours, least = (
            min(cpu_of([sys.executable, *program, *typed]) for _ in range(3 if quick else 15))
            for program in (["-m", "functions.cli.main"], ["-c", _EMPTY])
        )
        say(f"ebb {typed[0]}: CPU / that of an empty typer program", f"{ours / least:.2f} times", "1.5 at most")


def measured(function: str, python: str = sys.executable, source: Path | None = None) -> list[list[float]]:
    """Start the function as wired for production, its services at an address where nobody listens."""
    with tempfile.TemporaryDirectory() as folder:
        kubeconfig = write_kubeconfig(Path(folder), server=f"http://{_NOWHERE}")
        program = [python, "-c", _PROGRAM.format(function=function)]
        answer = subprocess.run(
            program, cwd=source, env=_environment(kubeconfig), capture_output=True, text=True, timeout=120, check=True
        )
    rows: list[list[float]] = json.loads(answer.stdout)
    return rows


def _environment(kubeconfig: Path) -> dict[str, str]:
    return {
        **os.environ,
        "EBB_CLUSTER": "projects/p/locations/l/clusters/c",
        "EBB_TOPIC": "projects/p/topics/t",
        "EBB_POLICY": "gs://bucket/policy.yaml",
        "EBB_STATE": "firestore",
        "EBB_FIRESTORE_DATABASE": "ebb",
        "EBB_KUBECONFIG": str(kubeconfig),
        "EBB_GKE_API": f"http://{_NOWHERE}",
        "FIRESTORE_EMULATOR_HOST": _NOWHERE,
        "PUBSUB_EMULATOR_HOST": _NOWHERE,
        "STORAGE_EMULATOR_HOST": f"http://{_NOWHERE}",
        "GOOGLE_CLOUD_PROJECT": "p",
    }
