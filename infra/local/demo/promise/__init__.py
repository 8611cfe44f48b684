"""Checks the promise from the little API's own record.

Must share no code with the planner: it would share its mistakes.
"""
