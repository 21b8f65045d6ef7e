"""The only builder: settings become stores, doors, jobs and routes, once, and are passed down (architecture rule 6)."""

from __future__ import annotations
