"""`ebb demo`: the whole loop on a simulated GKE on this machine, narrated, with a check of the promise at its end.

Each function runs as a process of its own, configured by environment variables alone, as in production. The code that
checks the promise shares nothing with the planner.
"""
