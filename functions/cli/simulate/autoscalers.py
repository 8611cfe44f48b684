"""The limits of HorizontalPodAutoscalers in a dump: between which replicas their workloads follow the day.

`ebb dump` does not ask for them; whoever adds hpa to its command has them here. Must not read anything else of a dump.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from shared.adapters.kubernetes.dump.files import STDIN, files_of
from shared.adapters.kubernetes.dump.reading import documents_of, typed
from shared.core.simulated_days.patterns import Range

KIND: Final = "HorizontalPodAutoscaler"


class _Meta(msgspec.Struct):
    name: str
    namespace: str = "default"


class _Target(msgspec.Struct):
    kind: str
    name: str


class _Spec(msgspec.Struct, rename="camel"):
    scale_target_ref: _Target
    max_replicas: int
    min_replicas: int | None = None


class _Autoscaler(msgspec.Struct):
    metadata: _Meta
    spec: _Spec


_decoder: Final = msgspec.json.Decoder(_Autoscaler)


def limits_in(dumps: tuple[Path, ...], controllers: Mapping[str, str]) -> dict[str, Range]:
    """Return the limits by controller, of workloads whose pods are there."""
    found: dict[str, Range] = {}
    for file in files_of(path for path in dumps if path != STDIN):
        for document, items in documents_of(file, lambda _: None):
            for kind, item in typed(file, document, items):
                if kind == KIND:
                    found.update(_limits(item.raw, controllers))
    return found


def _limits(raw: bytes, controllers: Mapping[str, str]) -> dict[str, Range]:
    try:
        each = _decoder.decode(raw)
    except msgspec.MsgspecError:
        return {}
    target, spec = each.spec.scale_target_ref, each.spec
    controller = controllers.get(f"{each.metadata.namespace}/{target.kind}/{target.name}")
    least = 1 if spec.min_replicas is None else spec.min_replicas
    return {controller: Range(least, max(least, spec.max_replicas))} if controller else {}
