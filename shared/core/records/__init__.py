"""What Ebb remembers and says: orders, results, the documents of its state, and the arithmetic on them."""
