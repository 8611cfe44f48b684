"""The policy: its fields, each declared once, and how a document becomes the settings in force.

`parsing` reads a document. What only people use is apart: `schema`, `documentation`, `precedence`, `importing`.
"""
