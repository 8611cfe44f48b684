"""A dump under other names: every rule that placement reads is kept, and no word of the owner's; `files` is the way in.

What is not named here as harmless or as a name is left out, so that a field of tomorrow cannot give anything away.
"""
