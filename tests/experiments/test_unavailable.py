"""What the started script defines itself: refused before anything starts where workers do not import that script."""

from __future__ import annotations

import pytest

import tacit
from tacit.experiments import Experiment, GameSpec, LearnerSpec, job
from tacit.experiments.backends import Where
from tacit.experiments.job import Order
from tacit.experiments.runner import refuse_unavailable
from tacit.experiments.spec import plan


class Mine:
    def __init__(self, *, states, actions, horizon, reward_range, seed, index): ...

    def act(self, h, s):
        return 0

    def learn(self, h, s, a, reward, next_state): ...


def pair() -> object:
    return tacit.make("chicken")


@pytest.fixture
def _registries(monkeypatch: pytest.MonkeyPatch):
    for registry, name, made in ((tacit.learners.REGISTRY, "mine", Mine), (tacit.games.REGISTRY, "pair", pair)):
        monkeypatch.setattr(registry, "_factories", dict(registry._factories))
        monkeypatch.setattr(made, "__module__", "__main__")
        registry.add(name, made)


@pytest.mark.usefixtures("_registries")
def test_a_learner_of_the_script_is_told_before_anything_starts():
    runs = plan(Experiment("e", 5, (GameSpec("chicken"),), (LearnerSpec("mine"),)), keep=False)
    for cluster in (Where("ray", "auto", None), Where("dask", "tcp://10.0.0.1:8786", None)):
        with pytest.raises(tacit.TacitError, match=r"the learner 'mine' is defined in the script.*--import"):
            refuse_unavailable(runs, cluster)
    for here in (Where("threads", "", None), Where("processes", "", 2)):
        refuse_unavailable(runs, here)


@pytest.mark.usefixtures("_registries")
def test_a_game_of_the_script_travels_as_tables(monkeypatch: pytest.MonkeyPatch):
    runs = plan(Experiment("e", 5, (GameSpec("pair"),), (LearnerSpec("stage-v-cce"),)), keep=False)
    refuse_unavailable(runs, Where("ray", "", None))
    tables = job.pack_game(runs[0])
    del tacit.games.REGISTRY._factories["pair"]  # as in a worker
    job.forget_games()
    assert job.work(Order(runs[0]), None) is None
    found = job.work(Order(runs[0], tables=tables), None)
    job.forget_games()
    assert found.outcome.episodes == 5  # type: ignore[union-attr]
