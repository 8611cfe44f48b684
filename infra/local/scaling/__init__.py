"""The little cluster autoscaler: API client, scale-down (gate, drainability, simulation, clocks, drains), scale-up."""
