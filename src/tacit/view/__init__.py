"""Pages: a report in one file, a live page of results, and a game that a person plays.

Documents, plain data that JSON can hold, are made from files by Python; the scripts in `static/` draw them. The report
has the documents inside, the live page fetches them, and both are drawn by the same scripts.
"""

from __future__ import annotations

from tacit.view.results import write_report

__all__ = ["write_report"]
