"""Learners that are plain Python classes: `act`, `learn` and perhaps `probabilities`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit
from tacit.learners.several import PlainLearner


class Hedge:
    """Multiplicative weights for one's own losses, by hand; it tells what it plays."""

    def __init__(self, *, states, actions, horizon, reward_range, seed, index, rate=0.1):  # type: ignore[no-untyped-def]
        self.weights = np.ones((horizon, states, actions))
        self.rng = np.random.default_rng([seed, index])
        self.span, self.rate = reward_range, rate
        self.log: list[tuple[Any, ...]] = []

    def act(self, h: int, s: int) -> int:
        return int(self.rng.choice(self.weights.shape[2], p=self.probabilities(h, s)))

    def learn(self, h: int, s: int, a: int, reward: float, next_state: int) -> None:
        self.log.append((h, s, a, reward, next_state))
        low, high = self.span
        self.weights[h, s, a] *= np.exp(-self.rate * (high - reward) / (high - low))

    def probabilities(self, h: int, s: int) -> np.ndarray:
        row: np.ndarray = self.weights[h, s] / self.weights[h, s].sum()
        return row


class Cycle:
    """Plays one action after the other, and tells nothing."""

    def __init__(self, **known: Any) -> None:
        self.known, self.turn = known, 0

    def act(self, h: int, s: int) -> np.int64:
        self.turn += 1
        return np.int64((self.turn - 1) % self.known["actions"])

    def learn(self, h: int, s: int, a: int, reward: float, next_state: int) -> None: ...


def test_what_it_tells_is_what_it_is_taken_to_play():
    made: list[Hedge] = []

    def factory(**known: Any) -> Hedge:
        made.append(Hedge(**known))
        return made[-1]

    game = tacit.make("prisoners-dilemma", horizon=2)
    run = tacit.learn(game, factory, episodes=300, seed=3, points=5)
    assert run.learner == "factory"
    assert len(made) == 2
    for own, table in zip(made, run.last.probs, strict=True):
        np.testing.assert_array_equal(table, own.weights / own.weights.sum(axis=2, keepdims=True))
        assert [entry[0] for entry in own.log] == [0, 1] * 300
        assert {entry[4] for entry in own.log if entry[0] == 1} == {-1}  # after the last step
        assert {entry[4] for entry in own.log if entry[0] == 0} == {0}
    assert run.gaps.source == "exact"
    assert run.gap == pytest.approx(tacit.evaluate(game, run.last).gap, abs=1e-12)
    assert run.curve["gap"][-1] < run.curve["gap"][0]  # it learns to defect
    returns = np.array([[entry[3] for entry in own.log] for own in made]).reshape(2, 300, 2).sum(axis=2)
    np.testing.assert_allclose(run.reward, returns[:, -30:].mean(axis=1), rtol=1e-12)


def test_without_words_the_frequencies_of_its_actions_count():
    game = tacit.make("rock-paper-scissors")
    run = tacit.learn(game, Cycle, episodes=7)
    assert run.learner == "Cycle"
    assert run.chosen == "frequencies"
    assert "from empirical frequencies of actions" in str(run)
    for table in run.last.probs:
        np.testing.assert_allclose(table[0, 0], np.array([3, 2, 2]) / 7)
    unmet = tacit.learn(tacit.make("good-state", horizon=3), Cycle, episodes=1)
    assert all((table.sum(axis=2) == 1).all() for table in unmet.last.probs)
    assert (unmet.last.probs[0][1] == 0.5).any()  # where it never was, evenly


def test_it_is_told_what_an_agent_may_know():
    game = tacit.make("random-general-sum", agents=3, actions=[2, 3, 2], states=4, horizon=5, seed=1)
    made: list[dict[str, Any]] = []

    class Curious(Cycle):
        def __init__(self, **known: Any) -> None:
            super().__init__(**known)
            made.append(known)

    tacit.learn(game, Curious, episodes=2, seed=9)
    assert made == [
        {"states": 4, "actions": A, "horizon": 5, "reward_range": game.reward_range, "seed": 9, "index": i}
        for i, A in enumerate([2, 3, 2])
    ]


def test_beside_a_learner_with_kernels_each_has_its_own():
    """The other one is an agent on its own then, with the same stream and so the same first action."""
    game = tacit.make("rock-paper-scissors")
    run = tacit.learn(game, ["q-independent", Cycle], episodes=300, seed=2)
    np.testing.assert_allclose(run.last.probs[1][0, 0], [1 / 3] * 3)
    assert run.learner == "[q-independent, Cycle]"
    again = tacit.learn(game, ["q-independent", Cycle], episodes=300, seed=2)
    assert run.curve.tobytes() == again.curve.tobytes()


def test_the_same_learner_as_a_class_of_ones_own_gives_the_same_bits():
    """An agent of ours, wrapped: played on its own, it does what the compiled loop does."""
    game = tacit.make("good-state", horizon=4)

    class Wrapped:
        def __init__(self, **known: Any) -> None:
            self.inner = tacit.agent("q-independent", **known)

        def act(self, h: int, s: int) -> int:
            return self.inner.act(h, s)

        def learn(self, h: int, s: int, a: int, reward: float, next_state: int) -> None:
            self.inner.learn(h, s, a, reward, None if next_state < 0 else next_state)

        def probabilities(self, h: int, s: int) -> np.ndarray:
            return self.inner.probabilities(h, s)

    plain, compiled = (tacit.learn(game, one, episodes=100, seed=4) for one in (Wrapped, "q-independent"))
    for column in plain.curve.dtype.names:
        if not column.startswith("average"):  # those are over all iterates in the loop, over the curve's points here
            np.testing.assert_array_equal(plain.curve[column], compiled.curve[column])
    for mine, yours in zip(plain.last.probs, compiled.last.probs, strict=True):
        np.testing.assert_array_equal(mine, yours)


def test_in_an_environment_it_meets_new_states():
    pytest.importorskip("pettingzoo")
    from toys import Corridor

    class Any_(Cycle):
        met: list[int] = []  # noqa: RUF012

        def act(self, h: int, s: int) -> np.int64:
            self.met.append(s)
            return super().act(h, s)

    run = tacit.learn(Corridor(space="box"), Any_, episodes=50, seed=0)
    assert max(Any_.met) > 3
    assert run.last.states == run.game.states
    for table in run.last.probs:
        np.testing.assert_allclose(table.sum(axis=2), 1)
    assert run.gaps.source == "none"
    hedge = tacit.learn(tacit.to_pettingzoo(tacit.make("good-state", horizon=3)), Hedge, episodes=40, seed=6)
    here = tacit.learn(tacit.make("good-state", horizon=3), Hedge, episodes=40, seed=6)
    for mine, yours in zip(hedge.last.probs, here.last.probs, strict=True):
        np.testing.assert_array_equal(mine, yours)


def agent(**methods: Any) -> type:
    return type("Odd", (Cycle,), methods)


@pytest.mark.parametrize("place", ["tables", "environment"])
@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (agent(act=lambda self, h, s: 3), "the action of a learner must be"),
        (agent(act=lambda self, h, s: -1), "the action of a learner must be"),
        (agent(act=lambda self, h, s: 0.5), "the action of a learner must be"),
        (agent(act=lambda self, h, s: None), "the action of a learner must be"),
        (agent(act=None), "which has no act"),
        (agent(learn=None), "which has no learn"),
        (agent(act=None, learn=None), "which has no act and no learn"),
        (lambda **known: 3, "made 3, which has no act and no learn"),
        (agent(probabilities=lambda self, h, s: [0.5]), r"must have shape \(2,\)"),
        (agent(probabilities=lambda self, h, s: ["a", "b"]), "the probabilities of a learner"),
        (agent(probabilities=lambda self, h, s: [0.9, 0.9]), "sum"),
        (agent(probabilities=lambda self, h, s: [1.5, -0.5]), "negative|below 0|-0.5"),
        (agent(probabilities=lambda self, h, s: [float("nan"), 1.0]), "nan|finite"),
    ],
)
def test_what_is_wrong_with_it_is_one_sentence(learner: Any, message: str, place: str):
    game: Any = tacit.make("chicken")
    if place == "environment":
        pytest.importorskip("pettingzoo")
        game = tacit.to_pettingzoo(game)
    with pytest.raises(tacit.TacitError, match=message) as caught:
        tacit.learn(game, learner, episodes=3)
    assert "\n" not in str(caught.value)


def test_parameters_do_not_go_to_a_class_but_to_a_registered_one(monkeypatch: pytest.MonkeyPatch):
    game, registry = tacit.make("chicken"), tacit.learners.REGISTRY
    with pytest.raises(tacit.TacitError, match="leave out rate"):
        tacit.learn(game, Hedge, episodes=5, rate=0.3)
    monkeypatch.setattr(registry, "_factories", dict(registry._factories))
    registry.add("hedge", Hedge)
    assert registry.parameters("hedge") == {"rate": 0.1}
    assert registry.summary("hedge") == "Multiplicative weights for one's own losses, by hand; it tells what it plays."
    assert isinstance(registry.make("hedge"), PlainLearner)
    with pytest.raises(tacit.TacitError, match="has no parameter 'rats'; did you mean 'rate'"):
        tacit.learn(game, "hedge", episodes=5, rats=0.3)
    run = tacit.learn(game, "hedge", episodes=50, rate=0.3)
    assert (run.learner, dict(run.params)) == ("hedge", {"rate": 0.3})
    slower = tacit.learn(game, "hedge", episodes=50)
    assert (run.last.probs[0] != slower.last.probs[0]).any()
    plain = tacit.learn(game, Hedge, episodes=50)
    np.testing.assert_array_equal(plain.last.probs[0], slower.last.probs[0])


def test_a_class_is_no_agent_on_its_own():
    """`tacit.agent` makes ours; a class of one's own is made by calling it."""
    with pytest.raises(tacit.TacitError, match="Hedge"):
        tacit.agent(Hedge, states=1, actions=2, horizon=1, reward_range=(0, 1))


def test_a_checkpoint_is_of_no_use_and_does_no_harm(tmp_path: Any):
    from tacit.engine.checkpoint import Checkpoint

    game = tacit.make("chicken")
    one = tacit.learn(game, Hedge, episodes=20, checkpoint=Checkpoint(tmp_path / "c.npz", key="a", every=0.0))
    assert not (tmp_path / "c.npz").exists()
    assert one.curve.tobytes() == tacit.learn(game, Hedge, episodes=20).curve.tobytes()
