"""Every sentence of the reports, by language."""
