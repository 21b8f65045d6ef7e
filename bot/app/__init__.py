"""Builds stores, clients, jobs and routes from the settings, once, and passes them down (architecture rule 6)."""

from __future__ import annotations
