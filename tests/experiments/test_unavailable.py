"""A game that the started script registers, where workers do not import that script."""

from __future__ import annotations

import pickle

import pytest

import tacit
from tacit.experiments import Experiment, GameSpec, LearnerSpec, worker
from tacit.experiments.spec import plan
from tacit.experiments.worker import Order


def pair() -> object:
    return tacit.make("chicken")


@pytest.fixture
def _pair(monkeypatch: pytest.MonkeyPatch):
    registry = tacit.games.REGISTRY
    monkeypatch.setattr(registry, "_factories", dict(registry._factories))
    monkeypatch.setattr(pair, "__module__", "__main__")
    registry.add("pair", pair)


@pytest.mark.usefixtures("_pair")
def test_a_game_of_the_script_travels_as_tables():
    runs = plan(Experiment("e", 5, (GameSpec("pair"),), (LearnerSpec("stage-v-cce"),)), keep=False)
    order = pickle.dumps(Order(runs[0]))
    del tacit.games.REGISTRY._factories["pair"]  # as in a worker
    worker.forget_games()
    delivery = worker.work(pickle.loads(order), None)
    worker.forget_games()
    assert delivery.outcome.episodes == 5
