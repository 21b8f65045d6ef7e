"""Failed tests in the logs of test runners, one family of runners a file."""
