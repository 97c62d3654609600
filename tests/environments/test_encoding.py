"""Large observations as few states: bins of every kind of space, their names and their inverse; actions of parts."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.environments.adapters import environment
from tacit.environments.deviators import Vector
from tacit.environments.encoding import Encoding, fit

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is not installed")
spaces = gymnasium.spaces
pytestmark = pytest.mark.filterwarnings("ignore:the agents saw different")

LAB = spaces.Dict(
    {
        "at": spaces.Box(-1.0, 1.0, (2,), np.float32),
        "level": spaces.Box(0, 9, (1,), np.int64),
        "pair": spaces.Tuple([spaces.Discrete(4, start=1), spaces.MultiDiscrete([2, 3])]),
        "switches": spaces.MultiBinary(2),
    }
)


class Lab(gymnasium.Env):  # type: ignore[misc]
    """Shows samples of its space; the reward is 1 for one action only."""

    def __init__(self, space: Any = LAB, actions: Any = None, best: Any = 1) -> None:
        self.observation_space, self.action_space, self.best = space, actions or spaces.Discrete(2), best

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.observation_space.seed(int(self.np_random.integers(2**31)))
        self.left = 2
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> Any:
        self.left -= 1
        return self.observation_space.sample(), float(np.array_equal(action, self.best)), self.left == 0, False, {}


def encoding(bins: Any, space: Any = LAB) -> Encoding:
    made = fit(bins, environment(Lab(space)), horizon=2, seed=0)[0]
    assert isinstance(made, Encoding)
    return made


def test_every_kind_of_space_has_bins_that_restore_to_an_observation_of_the_same_state():
    for bins in (tacit.Bins(3), "bins=1", {"bins": {"at": [4, [0.0, 0.5]], "level": 2}}):
        encode = encoding(bins)
        LAB.seed(1)
        for _ in range(50):
            seen = LAB.sample()
            key = encode(seen)
            assert encode(encode.restore(key)) == key
            assert encode.restore(key) in LAB
            assert all(type(part) in (int, float) for part in key)  # plain numbers, which files hold


def test_bins_are_where_numpy_puts_them_and_say_so():
    encode = encoding(tacit.Bins(4), spaces.Box(-2.0, 2.0, (3,), np.float64))
    for seen in np.random.default_rng(0).uniform(-2, 2, (40, 3)):
        assert encode(seen) == tuple(np.array([-1.5, -0.5, 0.5, 1.5])[np.digitize(seen, [-1, 0, 1])].tolist())
    assert encode.describe(encode(np.array([-1.9, 0.0, 1.5]))) == "[0] below -1, [1] 0 to 1, [2] from 1"
    named = encoding(tacit.Bins({"x": 1, "y": [0], "z": 2}), spaces.Box(-2.0, 2.0, (3,), np.float64))
    assert named.describe(named(np.array([1.0, -3.0, 0.1]))) == "y below 0, z from 0"
    assert encoding(tacit.Bins(4)).describe(encoding(tacit.Bins(4))(LAB.sample())).count("switches") == 2


@pytest.mark.usefixtures("interpreted")
def test_numbers_without_bounds_get_theirs_from_a_few_episodes():
    env = gymnasium.make("CartPole-v1")
    run = tacit.learn(tacit.from_pettingzoo(env, horizon=20, encode=tacit.Bins(3)), "q-independent", episodes=3)
    assert any("a few random episodes" in note for note in run.notes)
    seen, cells = run.game.observations[0], run.game.observations[0]._encoded.cells
    assert cells[0].edges == pytest.approx((-1.6, 1.6))  # the space's own
    assert 0.2 < cells[1].edges[1] < 2
    assert (
        tacit.learn(tacit.from_pettingzoo(env, horizon=20, encode="bins=3"), "q-independent", episodes=3)
        .game.observations[0]
        .met
        == seen.met
    )
    assert seen.name(0) in str(run.last.show())
    again = pickle.loads(pickle.dumps(run.last))
    assert again.observations[0].known(seen.restore_observation(0)) == 0
    edges = {"position": 1, "velocity": [0.0], "angle": 4, "spin": [0.0]}
    given = tacit.learn(tacit.from_pettingzoo(env, horizon=20, encode=tacit.Bins(edges)), "q-independent", episodes=3)
    assert not any("a few random episodes, and what" in note for note in given.notes)  # nothing to scout for


class Drifting:
    """A plain object: two numbers, one of them never far from 3."""

    actions, horizon, reward_range = 2, 4, (0.0, 1.0)

    def reset(self) -> Any:
        self.x = 0.0
        return (self.x, 3)

    def step(self, actions: list[int]) -> Any:
        self.x += actions[0] + 0.1
        return (self.x, 3), 0.0, False


def test_plain_objects_have_bins_too():
    run = tacit.learn(
        tacit.from_pettingzoo(Drifting(), encode=tacit.Bins({"x": 4, "kind": 1})), "q-independent", episodes=20
    )
    assert 2 <= run.game.states <= 4
    assert run.game.observations[0].name(0).startswith("x below")


@pytest.mark.parametrize(
    ("bins", "told"),
    [
        ({"at": [2]}, "encode must have 2 entries for Box.*; got 1"),
        ({"at": {"x": 2}}, "encode must have 2 entries for Box.*, 1 for what is left out; got 1"),
        ({"on": 2}, "no entry of encode for Dict.* 'on'.*known: at, level, pair, switches"),
        ({"level": 2}, r"encode must have an entry for at\[0\]"),
        (0, "must be a whole number"),
        ({"at": [[1, 0], 1]}, "must be numbers that ascend"),
    ],
)
def test_bins_that_do_not_fit_are_refused(bins: Any, told: str):
    with pytest.raises(tacit.TacitError, match=told):
        encoding(tacit.Bins(bins))


def test_an_encode_that_is_none_is_refused():
    for wrong in ("bin=3", {"bins": 3, "width": 1}, 3, "bins=x"):
        with pytest.raises(tacit.TacitError, match="encode must be a function"):
            tacit.learn(tacit.from_pettingzoo(Lab(), encode=wrong), episodes=3)
    with pytest.raises(tacit.TacitError, match="none of them nan"):
        encoding(tacit.Bins(2), spaces.Box(-1, 1, (1,)))(np.array([np.nan]))


def test_floats_that_are_whole_numbers_are_taken_as_they_are():
    class Whole(Lab):
        def step(self, action: Any) -> Any:
            return (np.round(self.observation_space.sample()), *super().step(action)[1:])

        def reset(self, **given: Any) -> Any:
            return np.round(super().reset(**given)[0]), {}

    box = spaces.Box(0.0, 2.0, (2,))
    assert tacit.learn(Whole(box), "q-independent", episodes=30).game.states == 9
    with pytest.raises(tacit.TacitError, match=r"encode=tacit\.Bins"):
        tacit.learn(Lab(box), "q-independent", episodes=30)


@pytest.mark.parametrize(
    ("actions", "best", "size"),
    [
        (spaces.MultiDiscrete([2, 3]), [1, 2], 6),
        (spaces.MultiBinary(3), [1, 0, 1], 8),
        (spaces.Tuple([spaces.Discrete(2, start=5), spaces.Discrete(2)]), (6, 1), 4),
    ],
)
@pytest.mark.usefixtures("interpreted")
def test_actions_of_several_parts_are_numbered(actions: Any, best: Any, size: int):
    env = Lab(spaces.Discrete(1), actions, best)
    run = tacit.learn(tacit.from_pettingzoo(env, horizon=2, reward_range=(0, 1)), "q-independent", episodes=300)
    assert run.game.actions == (size,)
    assert run.reward[0] > 1.5
    assert tacit.evaluate(env, lambda seen: best, episodes=5).values[0] == 2


def test_too_many_actions_are_refused_in_a_sentence():
    with pytest.raises(tacit.TacitError, match="at most 1,024 in all; got MultiBinary"):
        tacit.learn(Lab(spaces.Discrete(1), spaces.MultiBinary(12)), episodes=3)
    with pytest.raises(tacit.TacitError, match="must be Discrete, MultiDiscrete, MultiBinary"):
        tacit.learn(Lab(spaces.Discrete(1), spaces.Box(0, 1, (2,))), episodes=3)


class Pair(gymnasium.Env):  # type: ignore[misc]
    """Two agents in Tuples, as level-based foraging has them: paid when both name what the other sees."""

    observation_space = spaces.Tuple([spaces.Discrete(2)] * 2)
    action_space = spaces.Tuple([spaces.Discrete(2)] * 2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.side = int(self.np_random.integers(2))
        return (self.side, self.side), {}

    def step(self, actions: Any) -> Any:
        assert isinstance(actions, tuple)
        hit = actions == (self.side, self.side)
        return (self.side, self.side), [float(hit), 2.0 * hit], [True, True], False, {}


def test_tuples_of_a_team_are_one_entry_for_each_agent():
    run = tacit.learn(Pair(), "q-independent", episodes=400, seed=1)
    assert run.game.agents == 2
    assert run.reward[1] == 2 * run.reward[0] > 1.5


def test_vectors_for_networks():
    seen = {"at": [0.5, -1], "level": [3], "pair": (2, [1, 2]), "switches": [0, 1]}
    pair = [0, 1, 0, 0, 1, 2, 0, 1, 0, 0, 1]  # a unit vector; two numbers, and a unit vector of each
    assert Vector(LAB, "agent 0")(seen).tolist() == [0.5, -1, 3, *pair, 0, 1]


class Unplayed(gymnasium.Env):  # type: ignore[misc]
    action_space = spaces.Discrete(2)

    def __init__(self, space: Any, resets: int = 0) -> None:
        self.observation_space, self._resets = space, resets

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        assert self._resets
        self._resets -= 1
        return self.observation_space.low + 0.25, {}

    def step(self, action: Any) -> Any:
        raise AssertionError("played")


@pytest.mark.parametrize("bins", [None, [2, 2], [[1.0, 0.0], 2, 2], [2, 2, 0], 10**9])
def test_spaces_and_bins_are_checked_before_the_first_episode(bins: Any):
    env = Unplayed(spaces.Box(-np.inf, np.inf, (3,)))
    encode = None if bins is None else tacit.Bins(bins)
    with pytest.raises(tacit.TacitError, match=r"small finite space|entries|ascend|at least 1|1 to 1000000"):
        tacit.learn(tacit.from_pettingzoo(env, encode=encode), episodes=5)


def test_a_part_numbers_what_is_shown_before_and_after_it_is_stored(tmp_path: Path):
    run = tacit.learn(tacit.from_gymnasium(Lab(spaces.Box(-1.0, 1.0, (2,))), encode=tacit.Bins(2)), episodes=30)
    run.policy.save(tmp_path / "part.json", agent=0)
    parts = [run.policy.part(0), tacit.policies.Part.load(tmp_path / "part.json")]
    shown = np.array([0.3, -0.9], np.float32)
    assert parts[0].number(shown) == parts[1].number(shown) == run.game.state(shown)
    for part in parts:
        with pytest.raises(tacit.TacitError, match="must be 2 numbers"):
            part.number([0.3])


def test_floats_are_refused_at_the_first_observation():
    with pytest.raises(tacit.TacitError, match="small finite space"):
        tacit.learn(Unplayed(spaces.Box(-1.0, 1.0, (2,)), resets=1), episodes=5)


def test_names_are_those_of_the_command_line():
    assert tacit.learn("gymnasium:FrozenLake-v1", episodes=5).game.name == "FrozenLake-v1"
    with pytest.raises(tacit.TacitError, match="small finite space"):
        tacit.learn("gymnasium:CartPole-v1", episodes=5)
