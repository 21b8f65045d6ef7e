"""The sandbox, and the tools and programs that it offers."""
