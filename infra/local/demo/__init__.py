"""`ebb demo`: the whole loop on a simulated GKE on this machine, narrated, with a check of the promise at its end."""
