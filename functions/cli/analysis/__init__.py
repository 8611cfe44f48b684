"""What only people ask: why a node stays, what would let it go, what a cluster comes to, and how its days would be.

Pure like `shared.core`, whose plans, proofs and rules it asks. Must not know where clusters, prices or policies come
from, nor how answers are shown.
"""
