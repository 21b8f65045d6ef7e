"""Pull requests at work: what is to be checked of them, the checks, whose failures they are, what GitHub is told."""
