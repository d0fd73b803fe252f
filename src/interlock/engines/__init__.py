"""Who drives runs: start, wake, cancel, recover."""
