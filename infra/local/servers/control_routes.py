"""Control routes of the demo and of tests, on the port of the Kubernetes API: all begin with an underscore.

They act at once, without the API's checks, and are not in the record as requests.
"""

from infra.local.broker import TickJob
from infra.local.http_messages import HttpAnswer, HttpRequest, answer_json
from infra.local.simulated_gke import SimulatedGke


class Control:
    """Answers the underscore routes and hands every other request on to the Kubernetes API."""

    def __init__(self, cloud: SimulatedGke) -> None:
        self._world = cloud.world
        self._api = cloud.api
        self._jobs = cloud.jobs
        self._routes = {("GET", "/_record"): self._record, ("POST", "/_job"): self._job}

    def handle(self, request: HttpRequest) -> HttpAnswer:
        route = self._routes.get((request.method, request.path))
        if route is None:
            return self._api.handle(request)
        try:
            return route(request)
        except (KeyError, TypeError, ValueError) as error:
            return answer_json(400, {"error": f"{request.path}: {type(error).__name__}: {error}"})

    def _record(self, request: HttpRequest) -> HttpAnswer:
        lines = "".join(self._world.record.lines(int(request.query.get("from", "0"))))
        return HttpAnswer(200, lines.encode(), {"Content-Type": "application/jsonl"})

    def _job(self, request: HttpRequest) -> HttpAnswer:
        """Add or replace a scheduler job: {"name", "url", "every" seconds}."""
        job = TickJob(clock=self._world.clock, **request.json())
        self._jobs[:] = [*(old for old in self._jobs if old.name != job.name), job]
        return answer_json(200, {"job": job.name})
