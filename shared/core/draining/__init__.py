"""READ `next_step` FIRST. One drain, from the admission of its order to its end.

Must not look at the world: the drainer observes, asks for the next step here, and takes it.
"""
