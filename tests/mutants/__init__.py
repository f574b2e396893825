"""Small removals of guards, each of which the tests must notice."""
