"""May it go? Rules for pods, workloads, nodes, pools and the cluster: ordered tuples of small functions.

The same rules bind plan and claim.
"""
