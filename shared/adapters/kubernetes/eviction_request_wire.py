"""The part of EvictionRequests that Ebb reads; see `wire`. Must not hold meaning: that is `eviction_requests`.

Source: k8s.io/api lifecycle/v1alpha1 types.go of v1.37.2.
"""

from shared.adapters.kubernetes import wire


class Condition(wire.Partial, frozen=True):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class RequestStatus(wire.Partial, frozen=True, rename="camel"):
    conditions: list[Condition] | None = None
    observed_generation: int | None = None


class RequestSpec(wire.Partial, frozen=True):
    intent: str = ""
    requester: str = ""


class RequestMeta(wire.Partial, frozen=True, rename="camel"):
    name: str = ""
    resource_version: str = ""
    generation: int = 0
    annotations: dict[str, str] | None = None


class EvictionRequest(wire.Partial, frozen=True):
    """What is read of one."""

    metadata: RequestMeta = RequestMeta()
    spec: RequestSpec = RequestSpec()
    status: RequestStatus = RequestStatus()

    def condition(self, type_: str) -> Condition | None:
        """Return a condition that holds."""
        rows = self.status.conditions or ()
        return next((each for each in rows if (each.type, each.status) == (type_, "True")), None)

    @property
    def is_observed(self) -> bool:
        """Whether the status speaks of what is asked for now."""
        return (self.status.observed_generation or 0) >= max(self.metadata.generation, 1)
