"""A repository's own configuration (spec K): its keys, and the parser from a text to a policy or a list of problems.
The package reads no files and uses no network; other packages import from `bot.config`."""
