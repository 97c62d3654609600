"""Real clusters on this machine, started once: Ray with two nodes of one CPU each, Dask with two workers."""

from __future__ import annotations

import contextlib
import logging
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import clusters
import pytest

from tacit.learners import REGISTRY


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


@pytest.fixture(params=[pytest.param("ray", marks=pytest.mark.slow), "dask"])
def cluster(request: pytest.FixtureRequest) -> str:
    """A cluster, as for --on."""
    if request.param == "ray":
        return f"ray:{request.getfixturevalue('ray_cluster').address}"
    return f"dask:{request.getfixturevalue('dask_cluster').scheduler_address}"


@pytest.fixture
def without_trouble(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget the learner of trouble.py, before and after."""
    factories = {name: factory for name, factory in REGISTRY._factories.items() if name != "trouble"}
    monkeypatch.setattr(REGISTRY, "_factories", factories)
    sys.modules.pop("trouble", None)
    yield
    sys.modules.pop("trouble", None)
