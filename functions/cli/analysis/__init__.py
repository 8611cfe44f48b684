"""What only people ask: why a node stays, what would let it go, what a cluster comes to, and how its days would be.

Pure like `shared.core`, whose plans, proofs and rules it asks.
"""
