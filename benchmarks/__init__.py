"""Benchmarks: ratios against a floor measured in the same run, medians of several."""
