"""The one place that holds the version; `CITATION.cff` and the changelog are tested against it."""

__version__ = "1.0.0"
