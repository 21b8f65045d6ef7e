"""The dashboard issue of repositories that have `dashboard: true`: its content, its updates and its boxes."""
