"""Access to GitHub's REST API: authentication, rate limits, and writes.

Each write has a key, so that a repeated one takes effect once. Error responses become the errors of this package."""
