"""What is answered to slash commands."""
