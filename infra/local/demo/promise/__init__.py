"""Checks the promise from the simulated API's own record.

Must share no code with the planner: it would share its mistakes.
"""
