"""Which Ray cluster is meant, and whether it answers: Ray itself tries a dead address for more than a minute."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

#: Seconds that a cluster has to answer.
_PATIENCE = 5.0


def found(address: str) -> tuple[str, bool]:
    """Return an address for `ray.init`, and whether somebody named it, so that there is no falling back.

    If empty, it is what RAY_ADDRESS names, or the last cluster that was started on this machine, if it still answers,
    or "auto", which has Ray look at what runs here.
    """
    named = address or os.environ.get("RAY_ADDRESS", "")
    if named and named != "auto":
        return named, True
    try:
        last = _note().read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        last = ""
    return ("local" if last and not answers(last) else "auto"), bool(named)


def answers(address: str) -> bool:
    """Say whether something listens at an address like host:port or ray://host:port; others are left to Ray.

    >>> answers("127.0.0.1:1"), answers("local")
    (False, True)
    """
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        return True
    if not host or not port:
        return True
    try:
        socket.create_connection((host, port), _PATIENCE).close()
    except OSError:
        return False
    return True


def _note() -> Path:
    """Return the file in which Ray keeps the address of the last cluster that was started."""
    place = os.environ.get("RAY_TMPDIR") or (os.environ.get("TMPDIR") if sys.platform == "linux" else None)
    return Path(place or ("/tmp" if os.name == "posix" else tempfile.gettempdir()), "ray", "ray_current_cluster")
