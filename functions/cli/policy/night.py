"""When it is night where a cluster stands: the time zone of each region of Google's cloud.

Source: cloud.google.com/compute/docs/regions-zones (where regions are) and the tz database. Must not read a clock.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Final

NIGHT: Final = "0 20 * * *"
"""From eight in the evening."""
HOURS: Final = 10
UTC: Final = "Etc/UTC"
ZONES: Final = {
    "africa-south1": "Africa/Johannesburg",
    "asia-east1": "Asia/Taipei",
    "asia-east2": "Asia/Hong_Kong",
    "asia-northeast1": "Asia/Tokyo",
    "asia-northeast2": "Asia/Tokyo",
    "asia-northeast3": "Asia/Seoul",
    "asia-south1": "Asia/Kolkata",
    "asia-south2": "Asia/Kolkata",
    "asia-southeast1": "Asia/Singapore",
    "asia-southeast2": "Asia/Jakarta",
    "australia-southeast1": "Australia/Sydney",
    "australia-southeast2": "Australia/Melbourne",
    "europe-central2": "Europe/Warsaw",
    "europe-north1": "Europe/Helsinki",
    "europe-north2": "Europe/Stockholm",
    "europe-southwest1": "Europe/Madrid",
    "europe-west1": "Europe/Brussels",
    "europe-west2": "Europe/London",
    "europe-west3": "Europe/Berlin",
    "europe-west4": "Europe/Amsterdam",
    "europe-west6": "Europe/Zurich",
    "europe-west8": "Europe/Rome",
    "europe-west9": "Europe/Paris",
    "europe-west10": "Europe/Berlin",
    "europe-west12": "Europe/Rome",
    "me-central1": "Asia/Qatar",
    "me-central2": "Asia/Riyadh",
    "me-west1": "Asia/Jerusalem",
    "northamerica-northeast1": "America/Toronto",
    "northamerica-northeast2": "America/Toronto",
    "northamerica-south1": "America/Mexico_City",
    "southamerica-east1": "America/Sao_Paulo",
    "southamerica-west1": "America/Santiago",
    "us-central1": "America/Chicago",
    "us-east1": "America/New_York",
    "us-east4": "America/New_York",
    "us-east5": "America/New_York",
    "us-south1": "America/Chicago",
    "us-west1": "America/Los_Angeles",
    "us-west2": "America/Los_Angeles",
    "us-west3": "America/Denver",
    "us-west4": "America/Los_Angeles",
}


def time_zone(zones: Iterable[str]) -> str:
    """Return the time zone of most nodes, by the zones that they stand in; UTC where nobody knows."""
    regions = Counter(zone.rpartition("-")[0] for zone in zones if zone)
    region = max(sorted(regions), key=lambda each: regions[each], default="")
    return ZONES.get(region, UTC)
