"""The simulated cluster autoscaler: API client, scale-down (gate, drainability, simulation, drains), scale-up."""
