"""A small GKE on loopback, so that Ebb's production adapters run unmodified without a cloud.

Two layers. The *world* is plain classes with a clock, advanced step by step: no thread, no socket, seeded random
numbers only, so a simulator runs it in virtual time; `simulated_gke` puts it together. The *shell* (`servers`) is HTTP
and gRPC servers with one ticking thread around it. Both use nothing of `shared` but its named failures: a world with
the planner's code would have the planner's mistakes.
"""
