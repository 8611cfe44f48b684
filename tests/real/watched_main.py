"""Ebb in place of the root's `main.py`, with the stacks of all its threads once a minute, for whoever finds it stalled.

What it writes is read only where a test has waited in vain.
"""

import faulthandler

from main import drain, plan

__all__ = ("drain", "plan")
faulthandler.dump_traceback_later(60, repeat=True)
