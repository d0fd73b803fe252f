"""The ways in: each door parses, calls the runtime and renders."""
