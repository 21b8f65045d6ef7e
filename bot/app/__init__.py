"""The only builder: settings become stores, doors, jobs and routes, once, and are passed down (house rule 6)."""

from __future__ import annotations
