"""The old name of `tacit.figures`, for one release."""

from __future__ import annotations

import sys

from tacit import figures

sys.modules[__name__] = figures
