"""The whole simulated GKE of one scenario without servers: for tests in virtual time, and for the servers.

Nothing here runs by itself: whoever holds it steps the world, the autoscaler, the broker and the jobs.
"""

from infra.local.api.server import KubeApi
from infra.local.autoscaler import Autoscaler
from infra.local.broker import Broker, TickJob
from infra.local.bucket import Bucket
from infra.local.clocks import TimeSource
from infra.local.gke_api import GkeApi, ServedCluster
from infra.local.scaling.client import ApiTransport, DirectTransport
from infra.local.scenario.building import autoscaler_settings, build, pool_of, world_settings
from infra.local.scenario.reading import Scenario
from infra.local.whole_world import World


class SimulatedGke:
    """World, APIs, broker and bucket of a scenario; ScenarioError if it cannot be built."""

    def __init__(self, scenario: Scenario, clock: TimeSource, token: str | None = None) -> None:
        self.scenario = scenario
        self.clock = clock
        self.world = World(clock, world_settings(scenario))
        self.node_names = build(scenario, self.world)
        self.api = KubeApi(self.world.store, self.world.record, token)
        pools = {spec.name: pool_of(spec) for spec in scenario.pools}
        self.cluster = ServedCluster(scenario.cluster, pools, profile=scenario.profile)
        self.gke = GkeApi({self.cluster.name: self.cluster})
        self.broker = Broker(clock, set(scenario.topics))
        self.jobs: list[TickJob] = []
        self.bucket = Bucket(clock)
        for name, text in scenario.objects.items():
            bucket, _, key = name.partition("/")
            self.bucket.put(bucket, key, text.encode(), "text/plain")

    def autoscaler(self, transport: ApiTransport | None = None) -> Autoscaler:
        """The scenario's autoscaler, calling the API directly unless a transport is given."""
        return Autoscaler(
            transport or DirectTransport(self.api.handle),
            self.cluster.pools,
            self.clock,
            autoscaler_settings(self.scenario, self.node_names),
            cluster=self.cluster.short_name,
            seed=self.scenario.seed,
        )
