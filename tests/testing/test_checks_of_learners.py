"""Each way in which a learner can be wrong is found, and told in one sentence."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

import tacit
from tacit import kernels
from tacit.engine.fused import FusedEngine
from tacit.learners import Info
from tacit.testing import Violation, check_learner
from tacit.testing.learners import SEED, check_checkpoint, check_own_records


class State(NamedTuple):
    cells: Any  # [H, S, N]
    agents: Any  # [N]
    actions: np.ndarray
    diary: Any = 0


FACTS = Info()


@dataclass(frozen=True)
class Plain(kernels.Learner):
    """Adds rewards to the weight of what was played: right, unless a kernel or the state is replaced."""

    kind: Any = State
    told: Any = 0.5
    facts: Any = FACTS
    start: Any = "uniform"

    def params(self, world: kernels.World) -> dict[str, Any]:
        return {"told": self.told}

    @property
    def info(self) -> Any:
        return self.facts

    def init(self, world: kernels.World) -> Any:
        shape = (world.horizon, world.states, world.agents)
        cells = kernels.records(shape, [("weight", "f8", kernels.capacity(world.actions.max()))])
        cells["weight"] = 1.0
        return self.kind(cells, kernels.records((world.agents,), [("paid", "f8")]), world.actions)


def policy(learner, i, h, s, out):
    weight, total = learner.cells[h, s, i].weight, 0.0
    for a in range(learner.actions[i]):
        total += weight[a]
    for a in range(learner.actions[i]):
        out[a] = weight[a] / total


def act(learner, i, h, s, u):
    weight, total = learner.cells[h, s, i].weight, 0.0
    for a in range(learner.actions[i]):
        total += weight[a]
    for a in range(learner.actions[i]):
        u -= weight[a] / total
        if u < 0.0:
            return a
    return learner.actions[i] - 1


def learn(learner, i, h, s, a, r, s_next):
    learner.cells[h, s, i].weight[a] += r
    learner.agents[i].paid += r


RIGHT = {"act": act, "learn": learn, "policy": policy}


def register(kind: type, **own: Callable[..., Any]) -> None:
    for word, kernel in {**RIGHT, **own}.items():
        getattr(kernels, word).implement(kind)(kernel)


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the compiler out: what is wrong here is wrong in both forms."""
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    register(State)


def refused(learner: Any, message: str, **given: Any) -> None:
    with pytest.raises(Violation, match=message) as caught:
        check_learner(learner, **given)
    assert "\n" not in str(caught.value)


def test_the_right_one_passes():
    register(State)
    check_learner(Plain())


def act_evenly(learner, i, h, s, u):
    return int(u * learner.actions[i])


def act_beyond(learner, i, h, s, u):
    return learner.actions[i]


def act_by_others(learner, i, h, s, u):
    return 0 if learner.agents[(i + 1) % len(learner.actions)].paid % 1.0 > u else 1


def learn_nothing(learner, i, h, s, a, r, s_next):
    pass


def learn_from_others(learner, i, h, s, a, r, s_next):
    for own in learner.agents:
        learner.cells[h, s, i].weight[a] += 1e-9 * own.paid
    learner.agents[i].paid += r


def learn_for_all(learner, i, h, s, a, r, s_next):
    learner.cells[h, s, i].weight[a] += r
    learner.agents[len(learner.actions) - 1].paid += 1e-9 * r


def negative(learner, i, h, s, out):
    for a in range(learner.actions[i]):
        out[a] = 0.0
    out[0], out[1] = 2.0, -1.0


def weigh_too_much(learner, i, h, s, out):
    policy(learner, i, h, s, out)
    out[learner.actions[i] :] = 0.0


BROKEN: list[tuple[dict[str, Callable[..., Any]], str]] = [
    ({"act": act_evenly}, "act of Plain does not draw from policy, for agent"),
    ({"act": act_beyond}, "act of Plain returned|index"),
    ({"learn": learn_nothing}, "learned nothing in 60 episodes"),
    ({"learn": learn_from_others}, "agents of Plain on their own do not do what they do in the loop"),
    (
        {"learn": learn_for_all},
        "agents of Plain on their own do not do what they do in the loop; agents.paid of agent . differs",
    ),
    ({"policy": negative}, "what policy of Plain writes for agent 0 .* it must be a distribution"),
    ({"policy": weigh_too_much}, "policy of Plain writes more than the actions of agent"),
]


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(("own", "message"), BROKEN, ids=[next(iter(own.values())).__name__ for own, _ in BROKEN])
def test_a_broken_kernel(own: dict[str, Callable[..., Any]], message: str):
    register(State, **own)
    if own.get("act") is act_beyond:
        with pytest.raises((Violation, IndexError), match=message):
            check_learner(Plain())
        return
    refused(Plain(), message)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"act": act_by_others}, "agent 0 of mine acts by what is not in its records"),
        ({"learn": learn_from_others}, "agent 0 of mine learns from what is not in its records; cells.weight differs"),
        ({"learn": learn_for_all}, "agent 0 of mine writes into the records of agent 2; agents.paid differs"),
    ],
)
def test_what_noise_in_the_records_shows(own: dict[str, Callable[..., Any]], message: str):
    register(State, **own)
    engine = FusedEngine(tacit.make("random-general-sum", agents=3, states=3), Plain(), episodes=20, seed=0)
    engine.advance(20)
    with pytest.raises(Violation, match=message):
        check_own_records("mine", engine, 0)


class Bare(NamedTuple):
    cells: Any
    agents: Any
    actions: np.ndarray


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (Plain(told=np.zeros(2)), "params of Plain has 'told': array"),
        (Plain(told=np.int64(3)), "params of Plain has 'told'.*plain values only"),
        (Plain(facts="nash"), "info of Plain must be an Info; got 'nash'"),
        (Plain(facts=Info(returns="film")), "info.returns of Plain must be one of .*; got 'film'"),
        (Plain(facts=Info("peace")), "info.learns of Plain must be one of nash, cce, ce; got 'peace'"),
        (Plain(facts=Info(needs=frozenset({"luck"}))), "info.needs of Plain"),
        (Plain(facts=Info(reward_scale_free="yes")), "info.reward_scale_free of Plain"),
        (Plain(facts=Info(returns="certified")), "averaging of tacit.kernels is not implemented for State"),
        (Plain(kind=Bare), "act and learn and policy of tacit.kernels is not implemented for Bare"),
        (Plain(kind=lambda *_: [1]), "is a list; it must be a NamedTuple"),
    ],
)
def test_what_the_learner_says(learner: Plain, message: str):
    refused(learner, message)


class Turned(Plain):
    """Has two cells for each."""

    def init(self, world: kernels.World) -> Any:
        state = super().init(world)
        return state._replace(cells=np.concatenate([state.cells] * 2))


@pytest.mark.usefixtures("interpreted")
def test_what_the_state_says():
    refused(Turned(), r"cells of Turned has the shape \(6, 3, 3\) for 3 agents, 3 steps and 3 states; records are")


class Random(Plain):
    """Begins elsewhere each time."""

    def init(self, world: kernels.World) -> Any:
        state = super().init(world)
        state.agents["paid"] = np.random.default_rng().random(world.agents)
        return state


class Shifted(Plain):
    """Counts its states from the end."""


def shifted(kernel: Callable[..., Any]) -> Callable[..., Any]:
    def other(learner: Any, i: int, h: int, s: int, *rest: Any) -> Any:
        return kernel(learner, i, h, learner.cells.shape[1] - 1 - s, *rest)

    return other


@pytest.mark.usefixtures("interpreted")
def test_a_state_that_is_not_all_there_is():
    refused(Random(), "init of Random does not make the same state twice; agents.paid differs")
    register(State, **{word: shifted(kernel) for word, kernel in RIGHT.items()})
    refused(Shifted(), "an agent of Shifted that grows does not behave as before")


class Forgetful(Plain):
    """Writes what it learned where no checkpoint looks."""

    def init(self, world: kernels.World) -> Any:
        return super().init(world)._replace(diary=[0.0])


def learn_in_a_diary(learner, i, h, s, a, r, s_next):
    learner.diary[0] += r
    learner.cells[h, s, i].weight[a] += learner.diary[0]


@pytest.mark.usefixtures("interpreted")
def test_a_checkpoint_that_is_not_all_there_is():
    register(State, learn=learn_in_a_diary)
    game = tacit.make("chicken", horizon=2)
    engine = FusedEngine(game, Forgetful(), episodes=20, seed=SEED)
    with pytest.raises(Violation, match="mine does not end the same when it resumes from a checkpoint"):
        check_checkpoint("mine", Forgetful(), game, engine, engine.advance(20))


class Greedy(NamedTuple):
    cells: Any
    agents: Any
    actions: np.ndarray


def learn_with_an_array(learner, i, h, s, a, r, s_next):
    moved = np.zeros(learner.actions[i])
    moved[a] = r
    learner.cells[h, s, i].weight[a] += moved[a]


class TwoFaced(NamedTuple):
    cells: Any
    agents: Any
    actions: np.ndarray


numba.extending.overload(operator.indexOf)(lambda a, b: lambda a, b: 0.5)
TWO = (1, 0)


def learn_otherwise(learner, i, h, s, a, r, s_next):
    learner.cells[h, s, i].weight[a] += r * operator.indexOf(TWO, 0)  # the standard library is not copied


def test_what_only_the_compiler_shows():
    register(Greedy, learn=learn_with_an_array)
    refused(Plain(kind=Greedy), r"test_checks_of_learners.py:\d+ does not compile: it allocates memory")
    register(TwoFaced, learn=learn_otherwise)
    refused(Plain(kind=TwoFaced), "does not do the same compiled and interpreted")


def test_learners_that_do_not_play():
    class Lazy(tacit.learners.PGExact):
        def ascend(self, policy: Any, gradient: Any, eta: float) -> Any:
            return policy.probs, 0.0

    refused(Lazy(), "ascend of .* returned .*; it must be a MarkovPolicy")


@pytest.mark.usefixtures("interpreted")
def test_names_and_wrong_games():
    with pytest.raises(tacit.TacitError, match="did you mean 'npg'"):
        check_learner("npq")
    with pytest.raises(tacit.TacitError, match="has no name"):
        check_learner(Plain(), object())  # type: ignore[arg-type]
    assert replace(Plain(), told=1.0).told == 1.0
