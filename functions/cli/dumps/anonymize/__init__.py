"""A dump under other names: all that placement reads is kept, and no word of the owner's (`objects.anonymize_dump`).

What is not named here as harmless or as a name is left out, so that a field of tomorrow cannot give anything away.
"""
