"""What a cluster is: nodes, pods, PodDisruptionBudgets and what they request, exactly as the scheduler counts it.

Must not know the policy's rules or what Ebb remembers.
"""
