"""What kwokctl is told: which components, where they listen, how the simulated kubelets behave."""

from collections.abc import Sequence
from pathlib import Path

import yaml

from tests.real.control_plane.go_build import KUBERNETES
from tests.real.control_plane.layout import Layout

_HERE = Path(__file__).parent
# Hundreds of pods come back in seconds rather than minutes; the API server's priority and fairness stay on.
_CLIENT_RATE = {"kube-api-qps": "200", "kube-api-burst": "400"}
# As patches, because kwokctl v0.8.0 panics when its flag --extra-args is given for two components.
_EXTRA_ARGUMENTS = {
    # Nothing of this cluster outlives its processes, so nothing has to reach the disk.
    "etcd": {"unsafe-no-fsync": "true"},
    "kube-controller-manager": _CLIENT_RATE,
    "kube-scheduler": _CLIENT_RATE,
}

# kwokctl would count down from 32767 to the first port without a listener: two clusters that start at the same
# moment choose the same ports, and neither comes up.
PORTS = (
    "etcdPort",
    "etcdPeerPort",
    "kubeApiserverPort",
    "kubeControllerManagerPort",
    "kubeSchedulerPort",
    "kwokControllerPort",
)


def configuration(layout: Layout, ports: Sequence[int]) -> str:
    """Return the text of kwokctl's configuration: its options, with a port for each of `PORTS`, and the Stages."""
    head = {
        "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
        "kind": "KwokctlConfiguration",
        "options": _options(layout) | dict(zip(PORTS, ports, strict=True)),
        "componentsPatches": [
            {"name": name, "extraArgs": [{"key": key, "value": value} for key, value in extra.items()]}
            for name, extra in _EXTRA_ARGUMENTS.items()
        ],
    }
    return f"{yaml.safe_dump(head, sort_keys=False)}---\n{(_HERE / 'stages.yaml').read_text()}"


def _options(layout: Layout) -> dict[str, str | int]:
    return {
        "runtime": "binary",
        # kwokctl's default is every address of the machine, and it has no flag for this.
        "bindAddress": "127.0.0.1",
        "kubeVersion": KUBERNETES,
        "kubeAuditPolicy": str(_HERE / "audit.yaml"),
        "etcdBinary": str(layout.bin / "etcd"),
        "kubeApiserverBinary": str(layout.bin / "kube-apiserver"),
        "kubeControllerManagerBinary": str(layout.bin / "kube-controller-manager"),
        "kubeSchedulerBinary": str(layout.bin / "kube-scheduler"),
        "kubectlBinary": str(layout.bin / "kubectl"),
        "kwokControllerBinary": str(layout.bin / "kwok"),
    }
