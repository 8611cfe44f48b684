"""May it go? Rules for pods, workloads, nodes, pools and the cluster, which bind plan and claim alike."""
