"""READ `next_step` FIRST. One drain, from the admission of its order to its end."""
