"""What a cluster is: nodes, pods, PodDisruptionBudgets and what they request, exactly as the scheduler counts it."""
