"""What every test shares: hypothesis draws the same examples each time, and has no clock."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("tacit", deadline=None, derandomize=True, database=None)
settings.load_profile("tacit")
