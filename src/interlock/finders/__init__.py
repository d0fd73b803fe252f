"""Rankers: how tools are ordered by how well they fit words."""
