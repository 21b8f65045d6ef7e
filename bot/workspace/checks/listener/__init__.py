"""What the bot gives a test runner so that it names its tests; copied beside a check, never imported by the bot."""
