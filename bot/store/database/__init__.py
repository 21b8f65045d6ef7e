"""The database itself: its tables, its writer, its connections."""
