"""Taints and tolerations, as k8s.io/api core/v1 toleration.go reads them."""

from infra.local.world.kinds import Json

HARD = ("NoSchedule", "NoExecute")


def tolerates(toleration: Json, taint: Json) -> bool:
    """Does one toleration cover one taint? An empty effect or key covers all."""
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if toleration.get("key") and toleration["key"] != taint["key"]:
        return False
    if toleration.get("operator", "Equal") == "Exists":
        return True
    return bool(toleration.get("key")) and toleration.get("value", "") == taint.get("value", "")


def untolerated(pod_spec: Json, taints: list[Json], effects: tuple[str, ...] = HARD) -> Json | None:
    """The first taint with one of the effects that the pod does not tolerate, or None."""
    tolerations: list[Json] = pod_spec.get("tolerations") or []
    for taint in taints:
        if taint["effect"] in effects and not any(tolerates(item, taint) for item in tolerations):
            return taint
    return None
