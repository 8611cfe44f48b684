"""The port `CommitmentList`: the commitments of one project and region, by the Compute API's REST interface.

One GET of `regionCommitments.list` with the identity of google-auth. Google's client for it (google-cloud-compute) has
69 MB and takes a second of CPU and 93 MiB to import, which is more than a planner has to spare.
"""

import re
from typing import Final

import msgspec

from shared.adapters.google_failures import CALL_SECONDS, RestReader, Service
from shared.core.records.commitments import ListedCommitment
from shared.errors import Retryable, Terminal

_ADDRESS: Final = "https://compute.googleapis.com"
_CLUSTER: Final = re.compile(
    r"projects/(?P<project>[^/]+)/locations/(?P<region>[^/-]+-[^/-]+)(?:-[a-z])?/clusters/[^/]+"
)
_FIELDS: Final = (
    "nextPageToken,items(name,status,plan,type,region,category,endTimestamp,autoRenew,resources(type,amount))"
)
_MOST_PAGES: Final = 20  # Of 500 commitments each.
_COMPUTE: Final = Service(
    "Compute API", "Grant compute.commitments.list to the planner's service account: Terraform's commitments = true."
)


class _Page(msgspec.Struct, frozen=True, rename="camel"):
    items: tuple[ListedCommitment, ...] = ()
    next_page_token: str = ""


class RegionCommitments:
    """The commitments that the region of one cluster has in the cluster's project."""

    def __init__(self, cluster: str, *, api: str = "", call_seconds: float = CALL_SECONDS) -> None:
        """Take the cluster's full name; `api` is an http:// address in the API's place, without credentials."""
        self._cluster = cluster
        self._api = api
        self._seconds = call_seconds

    def read(self) -> tuple[ListedCommitment, ...]:
        """Read all pages. Raises Terminal without identity, right or API, Retryable without an answer in time."""
        reader = RestReader(_COMPUTE, self._seconds, anonymous=bool(self._api))
        rows: list[ListedCommitment] = []
        token = ""
        for _ in range(_MOST_PAGES):
            params = {"fields": _FIELDS, "maxResults": "500", **({"pageToken": token} if token else {})}
            page = _page(reader.get(self._address(), params).content)
            rows += page.items
            token = page.next_page_token
            if not token:
                return tuple(rows)
        raise Terminal(_COMPUTE.what, f"it lists more than {_MOST_PAGES} pages of commitments")

    def _address(self) -> str:
        place = _CLUSTER.fullmatch(self._cluster)
        if place is None:
            raise Terminal(_COMPUTE.what, f"{self._cluster} names no region")
        path = f"/compute/v1/projects/{place['project']}/regions/{place['region']}/commitments"
        return f"{self._api.rstrip('/') or _ADDRESS}{path}"


def _page(data: bytes) -> _Page:
    try:
        return msgspec.json.decode(data, type=_Page, strict=False)
    except msgspec.DecodeError as error:
        raise Retryable(_COMPUTE.what, f"the answer cannot be read ({error})") from error
