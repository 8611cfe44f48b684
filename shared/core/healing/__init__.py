"""What earlier passes and drains left behind, and the breakers that stop a pool in which drains go wrong.

The top of the core: it may ask every package below.
"""
