"""Real clusters on this machine, started once: Ray with two nodes of one CPU each, Dask with two workers."""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Iterator
from typing import Any

import clusters
import pytest


@pytest.fixture(scope="module")  # it would take time, doing nothing, to the end of the session
def ray_cluster() -> Iterator[Any]:
    pytest.importorskip("ray")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster = clusters.two_nodes()
    yield cluster
    with contextlib.suppress(Exception):
        cluster.shutdown()


@pytest.fixture(scope="session")
def dask_cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        more = {"threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": None}
        cluster = distributed.LocalCluster(n_workers=2, silence_logs=logging.CRITICAL, **more)
    yield cluster
    with contextlib.suppress(Exception):
        cluster.close()


@pytest.fixture(params=["processes", "ray", "dask"])
def engine(request: pytest.FixtureRequest) -> str:
    """Where to run, as for --on."""
    if request.param == "ray":
        return f"ray:{request.getfixturevalue('ray_cluster').address}"
    if request.param == "dask":
        return f"dask:{request.getfixturevalue('dask_cluster').scheduler_address}"
    return "processes:2"
