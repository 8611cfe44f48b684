"""What only people ask: why a node stays, which change lets it go, the steady state, and simulated days.

Pure like `shared.core`, whose plans, proofs and rules it uses.
"""
