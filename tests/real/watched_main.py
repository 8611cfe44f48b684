"""Ebb in place of the root's `main.py`, which writes the stacks of all its threads once a minute.

What it writes is read only where a test has waited in vain.
"""

import faulthandler

from main import drain, plan

__all__ = ("drain", "plan")
faulthandler.dump_traceback_later(60, repeat=True)
