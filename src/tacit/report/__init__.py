"""Pages in one file that opens offline: a report, and a game to play.

Python makes documents, plain data that JSON can hold; the scripts in `static/` draw them.
"""

from __future__ import annotations

from tacit.report.play import write_play
from tacit.report.results import watch_report, write_report

__all__ = ["watch_report", "write_play", "write_report"]
