"""What a cluster comes to: left to its autoscaler, under a policy at rest, with a wish given up; and never below.

Start at `ladder`. Passes are those of `planning` on a simulated clock; the autoscaler is this package's own. Nothing
here is ordered.
"""
