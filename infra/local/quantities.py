"""Kubernetes quantities, and the resource requests of pods."""

import re
from fractions import Fraction
from functools import lru_cache
from math import ceil

from infra.local.world.kinds import Json

_FORM = re.compile(r"^([+-]?(?:\d+\.?\d*|\.\d+))(?:(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)|[eE]([+-]?\d+))?$")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_FACTORS = {suffix: Fraction(f"1e{power}") for suffix, power in _DECIMAL.items()} | {
    suffix: Fraction(1024**power) for suffix, power in _BINARY.items()
}


@lru_cache(maxsize=4096)
def quantity(text: str) -> Fraction:
    """The exact value of a quantity such as `100m`, `1.5Gi`, `2e3`; ValueError names what is not one."""
    match = _FORM.match(text)
    if match is None:
        raise ValueError(f"{text!r} is not a quantity: write a number with a suffix such as m, k, Mi or Gi")
    number, suffix, exponent = match.groups()
    return Fraction(number) * (_FACTORS[suffix] if suffix else Fraction(f"1e{exponent or 0}"))


@lru_cache(maxsize=4096)
def units(resource: str, text: object) -> int:
    """A whole number of units as the scheduler counts them: millicores of CPU, else units, rounded up."""
    value = quantity(str(text))
    return ceil(value * 1000) if resource == "cpu" else ceil(value)


Resources = dict[str, int]


def _requests(container: Json) -> Resources:
    asked: Json = (container.get("resources") or {}).get("requests") or {}
    return {name: units(name, value) for name, value in asked.items()}


def _add(total: Resources, more: Resources) -> None:
    for name, value in more.items():
        total[name] = total.get(name, 0) + value


def _raise(total: Resources, other: Resources) -> None:
    for name, value in other.items():
        total[name] = max(total.get(name, 0), value)


def pod_requests(pod: Json) -> Resources:
    """Units per resource (millicores for CPU); the pod itself is not counted here."""
    spec: Json = pod["spec"]
    total: Resources = {}
    for container in spec.get("containers") or []:
        _add(total, _requests(container))
    sidecars: Resources = {}
    peak: Resources = {}
    for container in spec.get("initContainers") or []:
        moment = dict(sidecars)
        _add(moment, _requests(container))
        _raise(peak, moment)
        if container.get("restartPolicy") == "Always":
            sidecars = moment
    _add(total, sidecars)
    _raise(total, peak)
    total |= _requests(spec)
    _add(total, {name: units(name, value) for name, value in (spec.get("overhead") or {}).items()})
    return total
