"""A small GKE on loopback, so that Ebb's production adapters run unmodified without a cloud.

Two layers. The *world* (`world`, `workloads`, `scheduling`, `scaling`, `api`, `broker`) is plain classes with a clock,
advanced step by step. It starts no thread, opens no socket and draws from seeded random numbers only, so a simulator
runs it in virtual time. `world` is its lowest package, `whole_world` puts it together. The *shell* (`servers`) is HTTP
and gRPC servers with one ticking thread around it.

It uses nothing of `shared` but its named failures: a world with the planner's code would have the planner's mistakes.
"""
