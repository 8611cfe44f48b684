"""May it go? Rules for pods, workloads, nodes, pools and the cluster: ordered tuples of small functions.

The same rules bind plan and claim. Must not ask whether the pods fit elsewhere: that is `placement`.
"""
