"""Mutants of changed lines: small faults that show whether the checks notice these lines."""
