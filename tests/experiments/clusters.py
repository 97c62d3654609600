"""A Ray cluster of two nodes on this machine."""

from __future__ import annotations

import contextlib
from typing import Any

NODE = {"num_cpus": 1, "object_store_memory": 80_000_000}
#: A node counts as dead after seconds instead of half a minute, and workers have the usual priority.
SYSTEM = {"worker_niceness": 0, "health_check_period_ms": 1000, "health_check_failure_threshold": 5}
#: Ray gives a node half a minute to start, which a busy machine may exceed.
ATTEMPTS = 3


def two_nodes() -> Any:
    """Start a cluster."""
    from ray.cluster_utils import Cluster

    head = {**NODE, "include_dashboard": False, "_system_config": SYSTEM}
    for attempt in range(ATTEMPTS):
        cluster = Cluster()
        try:
            cluster.add_node(**head)
            break
        except Exception:
            with contextlib.suppress(Exception):
                cluster.shutdown()
            if attempt == ATTEMPTS - 1:
                raise
    add_node(cluster)
    return cluster


def add_node(cluster: Any) -> None:
    """Add a node."""
    for attempt in range(ATTEMPTS):
        try:
            cluster.add_node(**NODE)
            return
        except Exception:
            if attempt == ATTEMPTS - 1:
                raise
