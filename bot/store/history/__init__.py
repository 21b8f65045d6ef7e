"""The error history: resolved errors, patches that did not help, and outcomes of checks."""
