"""`ebb demo`: the whole loop on a simulated GKE on this machine, told as a story and checked at its end.

Everything runs as a process of its own, wired by environment alone: what is shown is what production runs. Must
not import `infra`, and the promise is checked by code that shares nothing with the planner.
"""
