"""What is left of a cluster: by its autoscaler alone, in steady state, with a limit relaxed. Start at `scenarios`."""
