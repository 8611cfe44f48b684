"""The volumes of a pod by kind. Must not judge which of them tie a pod to its node."""

import re
from typing import Final

import msgspec

from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.parts import RawPart
from shared.core.cluster.pod import Volume

_TOKEN_NAME: Final = re.compile(rb'"kube-api-access-[a-z0-9]{5}"')
"""The service account token's volume, which admission gives a random name in every pod."""


class ClaimTemplateSpec(wire.Partial, frozen=True):
    storage_class_name: str | None = None


class ClaimTemplate(wire.Partial, frozen=True):
    """What an ephemeral volume's claim is made from."""

    spec: ClaimTemplateSpec = ClaimTemplateSpec()


class VolumeSource(wire.Partial, frozen=True):
    """What tells two volumes of one kind apart for us; the other fields are the kubelet's business."""

    medium: str | None = ""
    claim_name: str | None = ""
    driver: str | None = ""
    pd_name: str | None = ""
    volume_claim_template: ClaimTemplate | None = None


_volumes: Final = RawPart("spec.volumes", list[dict[str, msgspec.Raw]])
_name: Final = RawPart("spec.volumes[].name", str)
_source: Final = RawPart("spec.volumes[]", VolumeSource)


def without_random_names(raw: msgspec.Raw) -> bytes:
    """Return the volumes' words with one name for every token volume, so that pods of one kind say the same."""
    return _TOKEN_NAME.sub(b'"kube-api-access"', bytes(raw))


def volumes(raw: bytes) -> tuple[Volume, ...]:
    """Return each volume with its kind, the API's field name, and the name that it gives as detail."""
    return tuple(_volume(each) for each in _volumes.read(raw) or ())


def _volume(fields: dict[str, msgspec.Raw]) -> Volume:
    name = _name.read(fields.get("name", wire.ABSENT)) or ""
    kind = next((key for key in fields if key != "name"), "emptyDir")
    source = _source.read(fields.get(kind, wire.ABSENT)) or VolumeSource()
    template = source.volume_claim_template
    detail = source.claim_name or source.medium or source.driver or source.pd_name or ""
    return Volume(name, kind, detail, template.spec.storage_class_name if template else None)
