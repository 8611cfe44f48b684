"""What only people ask; pure like `shared.core`, whose plans, proofs and rules it uses."""
