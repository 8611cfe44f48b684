"""What earlier passes and drains left behind, and the breakers that stop a pool in which drains go wrong."""
