"""`make demo` and the end-to-end tests: a local GitHub stand-in, the sample repository and the script that plays them.

Nothing here imports the bot's own GitHub client, rules or reports, so that a misreading of GitHub made there
meets a second, independent reading instead of agreeing with itself."""
