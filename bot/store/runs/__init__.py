"""Fix runs and pull checks, their events, and the reports that were published about them."""
