"""What Ebb remembers and publishes: orders, results, the documents of its state, and the arithmetic on them."""
