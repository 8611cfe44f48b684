"""A small GKE on loopback, so that Ebb's production adapters run unmodified without a cloud.

Two layers. The *world* (`world`, `workloads`, `scheduling`, `scaling`, `api`, `broker`) is plain classes that are
told the time and stepped; it starts no thread, opens no socket and rolls no unseeded dice, so a simulator can run it in
virtual time. `world` is its ground floor, `whole_world` puts it together. The *shell* puts WSGI servers, a gRPC server
and one ticking thread around it.

It must not import `shared` or `functions`: a world that shared the planner's code would share its mistakes.
"""
