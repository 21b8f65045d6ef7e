"""The database: its tables, its writer thread and its connections."""
