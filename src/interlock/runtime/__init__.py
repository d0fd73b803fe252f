"""What happens: the walk of a call, the only way to a tool."""
