"""Measurements, each beside a reference measured in the same run: on a shared machine ratios alone can be trusted.
The goals are those that the project set itself before it was built; docs/performance.md has the results."""
