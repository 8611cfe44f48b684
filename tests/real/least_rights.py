"""Two users with the rights of `infra/rbac.yaml` behind `infra/admission.yaml`, by bearer tokens as on GKE."""

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.real.control_plane import ControlPlane
from tests.rights.rbac import FILE, OPTIONS

FENCE = FILE.with_name("admission.yaml")
NAMESPACE = "ebb"
TARGETS = {"plan": "planner", "drain": "drainer"}
_COMMAND = re.compile(r"^# +(sed .*) \| kubectl apply -f -$", re.MULTILINE)


def filled_fields(api_version: str, *managers: str) -> dict[str, Any]:
    """Return a patch that fills an object with what the API server keeps about who wrote which field, 15 kB of each."""
    fields: dict[str, Any] = {f"f:example.com/{'k' * 50}{number}": {} for number in range(200)}
    written = {"fieldsType": "FieldsV1", "fieldsV1": {"f:metadata": {"f:annotations": fields}}}
    entry = {"operation": "Update", "apiVersion": api_version, "time": "2026-01-01T00:00:00Z", **written}
    return {"metadata": {"managedFields": [{"manager": manager, **entry} for manager in managers or "abcde"]}}


def user(name: str) -> str:
    return f"system:serviceaccount:{NAMESPACE}:{name}"


def least_rights(plane: ControlPlane) -> Mapping[str, Path]:
    """Make both users and bind them; return the kubeconfig of each function by its target."""
    plane.kubectl("create", "namespace", NAMESPACE)
    for name in TARGETS.values():
        plane.kubectl("-n", NAMESPACE, "create", "serviceaccount", name)
    for file in (FILE, FENCE):
        plane.kubectl("apply", "-f", "-", stdin=filled_by_hand(file))
    return {target: _kubeconfig(plane, name) for target, name in TARGETS.items()}


def with_option(plane: ControlPlane, option: str, name: str, function: str = "drainer") -> Path:
    """Make one more drainer or planner, which an option is granted beside its rights; return its kubeconfig."""
    plane.kubectl("-n", NAMESPACE, "create", "serviceaccount", name)
    role = (f"--clusterrole=ebb-{function}", f"--serviceaccount={NAMESPACE}:{name}")
    plane.kubectl("create", "clusterrolebinding", f"{NAMESPACE}-{name}", *role)
    plane.kubectl("apply", "-f", "-", stdin=filled_by_hand(OPTIONS[option], **{function: name}))
    return _kubeconfig(plane, name)


def filled_by_hand(file: Path = FILE, drainer: str = "drainer", planner: str = "planner") -> str:
    """Run the command of the file's comment up to kubectl, with the users' names in place of the addresses."""
    found = _COMMAND.search(file.read_text(encoding="utf-8"))
    assert found, f"{file.name} no longer says how to fill it in"
    command = found[1].replace("PLANNER_EMAIL", user(planner)).replace("DRAINER_EMAIL", user(drainer))
    done = subprocess.run(
        ["sh", "-c", command], cwd=FILE.parents[1], capture_output=True, text=True, timeout=240, check=True
    )
    return done.stdout


def _kubeconfig(plane: ControlPlane, name: str) -> Path:
    config = yaml.safe_load(plane.kubeconfig.read_text())
    token = plane.kubectl("-n", NAMESPACE, "create", "token", name, "--duration=3h").strip()
    config["users"] = [{"name": user["name"], "user": {"token": token}} for user in config["users"]]
    path = plane.kubeconfig.with_name(f"kubeconfig-{name}")
    path.write_text(json.dumps(config))
    return path
