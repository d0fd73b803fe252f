"""How a tool runs: one runner for each kind of tool."""
