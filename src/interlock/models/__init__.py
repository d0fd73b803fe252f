"""How model providers spell it: one pure codec for each."""
