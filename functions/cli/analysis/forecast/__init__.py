"""What is left of a cluster: by its autoscaler alone, in a policy's steady state, with a limit relaxed; and the bound.

Start at `scenarios`. Passes are those of `planning` on a simulated clock; the autoscaler is this package's own. Nothing
here is ordered.
"""
