"""Finding what was said. `words` cuts text into terms and ranks what a store found by them."""
