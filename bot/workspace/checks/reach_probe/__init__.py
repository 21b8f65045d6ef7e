"""What the bot starts with each Python and Node process of a check, so that it reports what runs; copied beside a
check, never imported by the bot."""
