"""Models that can be asked: the providers' addresses, keys and transport under the port that the loop knows."""
